#include "lib/match/program.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace sluice {
namespace {

IpAddress v4(std::uint32_t value) {
    IpAddress address;
    for (std::size_t i = 0; i < 4; ++i) {
        address.bytes[i] = static_cast<std::byte>(value >> (24 - 8 * i));
    }
    return address;
}

Flow udp_to(std::uint16_t port, std::uint32_t source) {
    Flow flow;
    flow.fields.add(Field::IpProto);
    flow.fields.add(Field::L4Dport);
    flow.fields.add(Field::IpSrc);
    flow.ip_version = IpVersion::V4;
    flow.proto = 17;
    flow.dport = port;
    flow.src = v4(source);
    return flow;
}

// ip.proto eq 17 and (l4.dport in {53 123} or ip.src in {10.0.0.0/8 172.16.0.0/12})
Program example() {
    Program program;
    program.numbers = {{17, 17}, {53, 53}, {123, 123}};
    program.v4 = {{v4(0x0A00'0000), v4(0x0AFF'FFFF)}, {v4(0xAC10'0000), v4(0xAC1F'FFFF)}};
    program.tests = {
        {.field = Field::IpProto, .start = 0, .count = 1, .yes = 1, .no = kNoMatch},
        {.field = Field::L4Dport, .start = 1, .count = 2, .yes = kMatch, .no = 2},
        {.field = Field::IpSrc, .start = 0, .count = 2, .yes = kMatch, .no = kNoMatch},
    };
    return program;
}
constexpr Condition kWhole{.first = 0, .count = 3};

struct Row {
    std::string_view name;
    Flow flow;
    bool want;
};

TEST(Program, FollowsItsJumps) {
    Flow tcp = udp_to(53, 0x0A00'0001);
    tcp.proto = 6;
    Flow no_ports;
    no_ports.fields.add(Field::IpProto);
    no_ports.proto = 17;
    Flow six = udp_to(80, 0x0A00'0001);
    six.ip_version = IpVersion::V6;
    const Row rows[] = {
        {"first of the ports", udp_to(53, 0xC000'0201), true},
        {"last of the ports", udp_to(123, 0xC000'0201), true},
        {"between the ports", udp_to(100, 0xC000'0201), false},
        {"first address of a prefix", udp_to(80, 0x0A00'0000), true},
        {"last address of a prefix", udp_to(80, 0xAC1F'FFFF), true},
        {"one past a prefix", udp_to(80, 0xAC20'0000), false},
        {"an IPv6 address is in no IPv4 prefix", six, false},
        {"wrong protocol", tcp, false},
        {"an absent field answers no", no_ports, false},
    };
    const Program program = example();
    for (const Row& row : rows) {
        EXPECT_EQ(matches(program, kWhole, row.flow, {}), row.want) << row.name;
    }
}

TEST(Program, NoTestsMeansEveryPacket) {
    EXPECT_TRUE(matches(Program{}, Condition{}, Flow{}, {}));
}

TEST(Program, NegatedNeedsTheFieldToBeThere) {
    Program program = example();
    program.tests = {{.field = Field::IpSrc, .negated = true, .start = 0, .count = 2}};
    const Condition condition{.first = 0, .count = 1};
    EXPECT_TRUE(matches(program, condition, udp_to(1, 0xC000'0201), {}));
    EXPECT_FALSE(matches(program, condition, udp_to(1, 0x0A00'0001), {}));
    EXPECT_FALSE(matches(program, condition, Flow{}, {}));
}

TEST(CheckProgram, TakesWhatTheCompilerMakes) {
    EXPECT_TRUE(check_program(example(), kWhole));
    EXPECT_TRUE(check_program(Program{}, Condition{}));
}

struct Broken {
    std::string_view name;
    void (*break_it)(Program&, Condition&);
};

const Broken kBroken[] = {
    {"jump back", [](Program& p, Condition&) { p.tests[1].no = 0; }},
    {"jump to itself", [](Program& p, Condition&) { p.tests[1].no = 1; }},
    {"jump past the end", [](Program& p, Condition&) { p.tests[0].yes = 3; }},
    {"tests past the table", [](Program&, Condition& c) { c.first = 1; }},
    {"count that wraps", [](Program&, Condition& c) { c.first = 0xFFFF'FFFF; }},
    {"ranges past the table", [](Program& p, Condition&) { p.tests[1].count = 3; }},
    {"ranges that wrap", [](Program& p, Condition&) { p.tests[1].start = 0xFFFF'FFFF; }},
    {"ranges out of order", [](Program& p, Condition&) { std::swap(p.numbers[1], p.numbers[2]); }},
    {"ranges that overlap", [](Program& p, Condition&) { p.numbers[1].last = 123; }},
    {"range turned round", [](Program& p, Condition&) { p.numbers[2] = {124, 123}; }},
    {"addresses out of order", [](Program& p, Condition&) { std::swap(p.v4[0], p.v4[1]); }},
    {"IPv6 ranges past the table", [](Program& p, Condition&) { p.tests[2].v6_count = 1; }},
    {"unknown field", [](Program& p, Condition&) { p.tests[0].field = Field{200}; }},
    {"negated numbers", [](Program& p, Condition&) { p.tests[0].negated = true; }},
};

TEST(CheckProgram, RefusesWhatWouldMisleadAWorker) {
    for (const Broken& row : kBroken) {
        Program program = example();
        Condition condition = kWhole;
        row.break_it(program, condition);
        EXPECT_FALSE(check_program(program, condition)) << row.name;
    }
}

}  // namespace
}  // namespace sluice
