#include "lib/policy/expression/match_trace.hpp"

#include "lib/packet/parse.hpp"
#include "tests/packets/tree_oracle.hpp"
#include "tests/unit/policy/parsed_frame.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sluice::match_trace_test {
namespace {

using test::arp;
using test::Frame;
using test::Octets;
using test::parse_of;
using test::ParsedFrame;
using test::tcp;
using test::udp;

Expression tree_of(std::string_view text) {
    static TextNames names;
    return std::get<ParsedExpression>(parse_expression(text, {.text_names = &names})).tree;
}

struct Row {
    std::string_view condition;
    Frame frame;
    bool holds;
    std::string because;
};

const Frame kDns = udp().src("10.1.2.3").dst("192.0.2.1").dport(53);
const Frame kSyn = tcp().src("2001:db8::7").dst("2001:db8::1").dport(443).flags(0x002);

Octets octets(std::string_view text) {
    const ByteView bytes = bytes_of(text);
    return {bytes.begin(), bytes.end()};
}
const Frame kText = udp().carries(octets({"ab\0\"c", 5}));
const Frame kLong = udp().payload(41);
const std::string kZeroes = [] {
    std::string text;
    for (int i = 0; i < 40; ++i) {
        text += "\\x00";
    }
    return text;
}();

const Row kRows[] = {
    {"l4.dport eq 53", kDns, true, "l4.dport is 53"},
    {"l4.dport eq 80", kDns, false, "l4.dport is 53, not 80"},
    {"l4.dport in {80 443}", kDns, false, "l4.dport is 53, not 80 or 443"},
    {"l4.dport in {80 443 53}", kDns, true, "l4.dport is 53, in 53, 80 or 443"},
    {"l4.dport in {1 3 5 7 9 11}", kDns, false, "l4.dport is 53, not 1, 3, 5, 7 or more"},
    {"l4.dport ge 100 and l4.dport le 200", kDns, false, "l4.dport is 53, not 100-65535"},
    {"tcp.flags.syn", kDns, false, "tcp.flags.syn is absent"},
    {"tcp.flags.syn and not tcp.flags.ack", kSyn, true,
     "tcp.flags.syn is 1; tcp.flags.ack is 0, "
     "not 1"},
    {"not tcp.flags.syn", kSyn, false, "tcp.flags.syn is 1"},
    {"ip.src in {10.0.0.0/8 192.0.2.1}", kDns, true,
     "ip.src is 10.1.2.3, in 10.0.0.0/8 or "
     "192.0.2.1"},
    {"ip.src eq 10.1.2.4", kDns, false, "ip.src is 10.1.2.3, not 10.1.2.4"},
    {"ip.src ne 10.1.2.3", kDns, false, "ip.src is 10.1.2.3"},
    {"ip.src in {2001:db8::/32}", kSyn, true, "ip.src is 2001:db8::7, in 2001:db8::/32"},
    {"ip.src in {10.0.0.0/8}", arp(), false, "ip.src is absent"},
    {"ip.frag eq \"first\"", kDns, false, "ip.frag is none, not first"},
    {"eth.type eq 0x0806", kDns, false, "eth.type is 0x0800, not 0x0806"},
    {"port eq \"uplink\"", kDns, true, "port is uplink"},
    {"l4.dport eq 80 or ip.proto eq 6", kDns, false,
     "l4.dport is 53, not 80; ip.proto is 17, not 6"},
    {"l4.dport eq 80 or ip.proto eq 17", kDns, true, "ip.proto is 17"},
    {"payload contains \"b\\x00\"", kText, true,
     "payload is \"ab\\x00\\\"c\", which contains \"b\\x00\""},
    {"payload contains \"x\"", kText, false,
     "payload is \"ab\\x00\\\"c\", not one that contains \"x\""},
    {"lower(payload) matches \"B.*C$\"", kText, true,
     "payload is \"ab\\x00\\\"c\", which matches \"B.*C$\", whatever the case"},
    {"payload in {\"x\" \"y\"}", kText, false,
     "payload is \"ab\\x00\\\"c\", not one that is \"x\" or \"y\""},
    {"payload ne \"x\"", kText, true, "payload is \"ab\\x00\\\"c\", not one that is \"x\""},
    {"payload ne \"x\"", arp(), false, "payload is absent"},
    {"starts_with(payload, \"\\x00\")", kLong, true,
     "payload is \"" + kZeroes + "\"... (41 bytes), which starts with \"\\x00\""},
};

// Texts of a unit of a later layer, numbers among them.
TEST(Examine, TellsWhatDecidedOfAUnit) {
    struct UnitRow {
        std::string_view condition;
        bool holds;
        std::string_view because;
    };
    const UnitRow rows[] = {
        {"dns.qtype eq 28", true, "dns.qtype is 28"},
        {"dns.qtype eq 1", false, "dns.qtype is 28, not 1"},
        {"dns.qtype in {1 28}", true, "dns.qtype is 28, in 1 or 28"},
        {"dns.qtype ge 20", true, "dns.qtype is 28, in 20-65535"},
        {"dns.qtype ne 28", false, "dns.qtype is 28, not 0-27 or 29-65535"},
        {"dns.qname eq \"A.b\"", true, "dns.qname is \"a.b\", which is \"A.b\", whatever the case"},
        {"proto.l7 eq \"dns\"", false, "proto.l7 is absent"},
        {"dns.qr", false, "dns.qr is absent"},
        {"quic.version eq 1", false, "quic.version is 0x6b3343cf, not 0x00000001"},
        {"quic.version gt 1", true, "quic.version is 0x6b3343cf, in 0x00000002-0xffffffff"},
        {"http.request.headers[\"X-Key\"] eq \"k\"", true,
         "http.request.headers[\"X-Key\"] is \"k\", which is \"k\""},
        {"http.request.headers[\"x-key\"] eq \"l\"", false,
         "http.request.headers[\"x-key\"] is \"k\", not one that is \"l\""},
        {"http.cookies[\"X-Key\"] ne \"l\"", false, "http.cookies[\"X-Key\"] is absent"},
    };
    UnitTexts unit;
    unit.set(TextField::DnsQname, bytes_of("a.b"));
    unit.set(TextField::DnsQtype, bytes_of("28"));
    unit.set(TextField::QuicVersion, bytes_of("1798521807"));
    unit.set(named_text(0), bytes_of("k"));
    ParsedFrame seen = parse_of(kDns);
    seen.headers.unit = &unit;
    for (const UnitRow& row : rows) {
        const MatchTrace match_trace =
            examine(tree_of(row.condition), seen.headers, seen.frame, "uplink");
        EXPECT_EQ(match_trace.holds, row.holds) << row.condition;
        EXPECT_EQ(match_trace.because, row.because) << row.condition;
    }
}

TEST(Examine, TellsWhatDecided) {
    for (const Row& row : kRows) {
        const ParsedFrame seen = parse_of(row.frame);
        const MatchTrace match_trace =
            examine(tree_of(row.condition), seen.headers, seen.frame, "uplink");
        EXPECT_EQ(match_trace.holds, row.holds) << row.condition;
        EXPECT_EQ(match_trace.because, row.because) << row.condition;
    }
}

Expression some_tree(std::mt19937_64& random, int depth) {
    static const auto kLeaves = std::to_array<std::string_view>(
        {"l4.dport lt 60", "ip.proto eq 17", "tcp.flags.syn", "ip.src in {10.0.0.0/9}",
         "ip.ttl gt 100", "not ip.version eq 6", "ip.dst ne 192.0.2.1", "ip.len in {28 40 60}"});
    if (depth == 0 || random() % 3 == 0) {
        return tree_of(kLeaves[random() % kLeaves.size()]);
    }
    Expression node;
    node.kind = random() % 3 == 0   ? Expression::Kind::Not
                : random() % 2 == 0 ? Expression::Kind::And
                                    : Expression::Kind::Or;
    const std::size_t parts = node.kind == Expression::Kind::Not ? 1 : 2 + random() % 2;
    for (std::size_t i = 0; i < parts; ++i) {
        node.parts.push_back(some_tree(random, depth - 1));
    }
    return node;
}

TEST(Examine, AgreesWithTheOracle) {
    std::mt19937_64 random{3};
    const ParsedFrame packets[] = {parse_of(kDns), parse_of(kSyn), parse_of(arp()),
                                   parse_of(udp().src("10.200.0.1")),
                                   parse_of(tcp().ttl(200).flags(0x12))};
    std::size_t held = 0;
    for (int i = 0; i < 3000; ++i) {
        const Expression tree = some_tree(random, 4);
        const ParsedFrame& seen = packets[random() % std::size(packets)];
        const MatchTrace match_trace = examine(tree, seen.headers, seen.frame, "uplink");
        ASSERT_EQ(match_trace.holds, test::tree_says(tree, seen.headers, seen.frame));
        ASSERT_FALSE(match_trace.because.empty());
        held += match_trace.holds ? 1U : 0U;
    }
    EXPECT_GT(held, 500U);
    EXPECT_LT(held, 2500U);
}

}  // namespace
}  // namespace sluice::match_trace_test
