#include "tests/packets/compiled_rules.hpp"
#include "tests/packets/list_files.hpp"
#include "tests/packets/tree_oracle.hpp"
#include "tests/packets/verdict_case.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>

// What client.ip is, in conditions and in keys.
namespace sluice::test::client_ip_test {
namespace {

using namespace std::chrono_literals;

struct Row {
    std::string_view client_ip;
    std::string_view condition;
    std::string_view source;
    bool holds;
};

constexpr std::string_view kUnwrap = "unwrap: [nat64, v4mapped]";

TEST(ClientIp, IsTheSourceAsTheFileSays) {
    const Row rows[] = {
        // Without any of it: ip.src.
        {"", "client.ip eq 192.0.2.1", "192.0.2.1", true},
        {"", "client.ip in {192.0.2.0/24}", "192.0.2.1", true},
        {"", "client.ip in {192.0.2.0/24}", "::ffff:192.0.2.1", false},
        {"", "client.ip in {192.0.2.0/24}", "64:ff9b::192.0.2.1", false},
        {"", "client.ip in {64:ff9b::/96}", "64:ff9b::192.0.2.1", true},
        // Unwrapped, it is an IPv4 address and no other.
        {kUnwrap, "client.ip in {192.0.2.0/24}", "192.0.2.1", true},
        {kUnwrap, "client.ip in {192.0.2.0/24}", "::ffff:192.0.2.1", true},
        {kUnwrap, "client.ip in {192.0.2.0/24}", "64:ff9b::192.0.2.255", true},
        {kUnwrap, "client.ip in {192.0.2.0/24}", "64:ff9b::192.0.3.0", false},
        {kUnwrap, "client.ip in {192.0.2.0/24}", "64:ff9b:0:0:0:1:c000:201", false},
        {kUnwrap, "client.ip in {192.0.2.0/24}", "::fffe:192.0.2.1", false},
        {kUnwrap, "client.ip eq 192.0.2.1", "64:ff9b::c000:201", true},
        {kUnwrap, "client.ip ne 192.0.2.1", "64:ff9b::c000:201", false},
        {kUnwrap, "client.ip ne 192.0.2.1", "64:ff9b::c000:202", true},
        {kUnwrap, "not client.ip eq 192.0.2.1", "64:ff9b::c000:201", false},
        {kUnwrap, "client.ip in {64:ff9b::/96}", "64:ff9b::192.0.2.1", false},
        {kUnwrap, "client.ip in {::/0}", "64:ff9b::192.0.2.1", false},
        {kUnwrap, "client.ip in {::/0}", "64:ff9b::1:192.0.2.1", true},
        {kUnwrap, "client.ip in {0.0.0.0/0}", "64:ff9b::192.0.2.1", true},
        {kUnwrap, "client.ip in {0.0.0.0/0}", "2001:db8::1", false},
        {"unwrap: [nat64]", "client.ip eq 192.0.2.1", "::ffff:192.0.2.1", false},
        {"unwrap: [v4mapped]", "client.ip eq 192.0.2.1", "::ffff:192.0.2.1", true},
        {"unwrap: [v4mapped]", "client.ip eq 192.0.2.1", "64:ff9b::192.0.2.1", false},
        {"unwrap: []", "client.ip eq 192.0.2.1", "64:ff9b::192.0.2.1", false},
        // Cut, it is a network.
        {"ipv4_prefix: 24", "client.ip eq 192.0.2.0", "192.0.2.77", true},
        {"ipv4_prefix: 24", "client.ip in {192.0.2.0/24}", "192.0.2.77", true},
        {"ipv4_prefix: 24", "client.ip in {192.0.0.0/16}", "192.0.2.77", true},
        {"ipv4_prefix: 24", "client.ip ne 192.0.2.0", "192.0.2.77", false},
        {"ipv4_prefix: 24", "client.ip eq 192.0.2.0", "192.0.3.77", false},
        {"ipv4_prefix: 24", "client.ip eq 2001:db8::1", "2001:db8::1", true},
        {"ipv6_prefix: 64", "client.ip eq 2001:db8::", "2001:db8::1", true},
        {"ipv6_prefix: 64", "client.ip eq 2001:db8::", "2001:db8:0:1::1", false},
        {"ipv6_prefix: 64", "client.ip in {2001:db8::/32}", "2001:db8:0:1::1", true},
        {"ipv4_prefix: 24, unwrap: [nat64]", "client.ip eq 192.0.2.0", "64:ff9b::192.0.2.9", true},
        {"ipv4_prefix: 24, unwrap: [nat64]", "client.ip eq 192.0.2.0", "64:ff9b::192.0.3.9", false},
        {"ipv6_prefix: 64, unwrap: [nat64]", "client.ip eq 64:ff9b::", "64:ff9b::192.0.2.9", false},
        {"ipv6_prefix: 64, unwrap: [nat64]", "client.ip eq 64:ff9b::", "64:ff9b::1:0:0", true},
        // prefix() cuts what is left.
        {"ipv4_prefix: 24", "prefix(client.ip, 16) eq 192.0.0.0/16", "192.0.2.77", true},
        {"ipv4_prefix: 24", "prefix(client.ip, 28|64) eq 192.0.2.0/24", "192.0.2.77", true},
        {kUnwrap, "prefix(client.ip, 24|64) eq 192.0.2.0", "64:ff9b::192.0.2.77", true},
    };
    for (const Row& row : rows) {
        Box box{"version: 1\nclient_ip: {" + std::string{row.client_ip} +
                "}\nrules:\n  - {id: a, mode: enforce, on_match: drop, when: '(" +
                std::string{row.condition} + ") or eth.type eq 0x88b5'}\n"};
        const Frame frame = udp().dst("2001:db8::99").src(row.source);
        const Frame v4 = udp().src(row.source);
        const bool has_colon = row.source.find(':') != std::string_view::npos;
        EXPECT_EQ(box.judge((has_colon ? frame : v4).bytes(), kStart).verdict == Verdict::Drop,
                  row.holds)
            << row.client_ip << " " << row.condition << " " << row.source;
        EXPECT_NE(box.judge(arp().bytes(), kStart).verdict == Verdict::Drop,
                  !row.condition.starts_with("not"));
    }
}

// Any sets, any settings, addresses near the ends of all of them: what the tree says.
TEST(ClientIp, IsWhatASlowWalkOverTheTreeSays) {
    std::mt19937_64 random{11};
    const auto below = [&](std::size_t bound) { return random() % bound; };
    const auto v4 = [&] {
        return "10.0." + std::to_string(below(2)) + "." + std::to_string(below(256));
    };
    const auto wrapped = [&](const std::string& inside) {
        constexpr std::string_view kBefore[] = {"",
                                                "64:ff9b::", "::ffff:", "64:ff9b::1:0:", "::fffe:"};
        return std::string{kBefore[below(5)]} + inside;
    };
    const auto v6 = [&] {
        return "2001:db8:0:" + std::to_string(below(3)) + "::" + std::to_string(below(9));
    };
    std::size_t held = 0;
    const int sets = rounds(3000);
    for (int round = 0; round < sets; ++round) {
        ClientView view{static_cast<std::uint8_t>(20 + below(13)),
                        static_cast<std::uint8_t>(below(2) == 0 ? 128 : 56 + below(16)),
                        Unwrapping{static_cast<std::uint8_t>(below(4))}};
        std::string set;
        for (std::size_t i = 1 + below(4); i > 0; --i) {
            const bool six = below(3) == 0;
            const unsigned bits = six ? view.v6_length : view.v4_length;
            const auto length =
                static_cast<std::uint8_t>(bits - below(std::min<unsigned>(bits, 12) + 1));
            const auto address = parse_address(six ? (below(4) == 0 ? "64:ff9b::" : v6()) : v4());
            set +=
                " " + to_text(IpPrefix{address->version, masked(address->address, length), length});
            set += length == (six ? 128 : 32) ? "/" + std::to_string(length) : "";
        }
        const bool inverted = below(2) == 0;
        const std::string text =
            (inverted ? "not client.ip in {" : "client.ip in {") + set + "} or l4.dport eq 1";
        const auto parsed = parse_expression(text, {.client = view});
        ASSERT_TRUE(std::holds_alternative<ParsedExpression>(parsed))
            << text << ": " << std::get<Remark>(parsed).text;
        const Expression& tree = std::get<ParsedExpression>(parsed).tree;
        const auto compiled = compile_conditions(std::span{&tree, 1});
        ASSERT_TRUE(compiled);
        for (int i = 0; i < 8; ++i) {
            const std::string source = below(4) == 0 ? v6() : wrapped(v4());
            Frame frame = udp();
            if (source.find(':') != std::string::npos) {
                frame.dst("2001:db8::99");
            }
            const Octets bytes = frame.src(source).bytes();
            PacketHeaders headers;
            (void)parse_frame({bytes, static_cast<std::uint32_t>(bytes.size())}, {}, headers);
            const bool says = tree_says(tree, headers, bytes);
            ASSERT_EQ(!rules_for(*compiled, headers, bytes).empty(), says) << text << " " << source;
            held += says ? 1U : 0U;
        }
    }
    EXPECT_GT(held, static_cast<std::size_t>(sets) * 8 * 5 / 24);
    EXPECT_LT(held, static_cast<std::size_t>(sets) * 8 * 19 / 24);
}

constexpr std::string_view kKeyed = R"yaml(version: 1
client_ip: {ipv4_prefix: 24, ipv6_prefix: 64, unwrap: [nat64, v4mapped]}
rules:
  - id: r
    mode: enforce
    key: [client.ip]
    limits: [{algorithm: token_bucket, rate: 1/h, burst: 3}]
)yaml";

bool passes(Box& box, std::string_view source) {
    Frame frame = udp();
    if (source.find(':') != std::string_view::npos) {
        frame.dst("2001:db8::99");
    }
    return box.judge(frame.src(source).bytes(), kStart).verdict == Verdict::Pass;
}

TEST(ClientIp, AsAKeyIsOneBucketForAllThatIsOneClient) {
    Box box{kKeyed};
    EXPECT_TRUE(passes(box, "192.0.2.1"));
    EXPECT_TRUE(passes(box, "64:ff9b::192.0.2.2"));
    EXPECT_TRUE(passes(box, "::ffff:192.0.2.3"));
    EXPECT_FALSE(passes(box, "192.0.2.4"));
    EXPECT_FALSE(passes(box, "64:ff9b::192.0.2.5"));
    EXPECT_TRUE(passes(box, "192.0.3.1"));
    EXPECT_TRUE(passes(box, "64:ff9b::192.0.3.2"));
    EXPECT_TRUE(passes(box, "2001:db8::1"));
    EXPECT_TRUE(passes(box, "2001:db8::2"));
    EXPECT_TRUE(passes(box, "2001:db8::3"));
    EXPECT_FALSE(passes(box, "2001:db8::4"));
    EXPECT_TRUE(passes(box, "2001:db8:0:1::4"));
}

TEST(ClientIp, OfAnOperatorIsTheSameKey) {
    Box box{kKeyed};
    EXPECT_TRUE(passes(box, "64:ff9b::192.0.2.2"));
    for (const std::string_view text :
         {"192.0.2.0/24", "192.0.2.9", "64:ff9b::c000:207", "::ffff:192.0.2.1"}) {
        const Result<ReadKey> key = box.read_key(text);
        ASSERT_TRUE(key) << text << key.error().what;
        EXPECT_EQ(key->text, "192.0.2.0/24");
        const KeyAnswer answer = box.ask(
            {.action = KeyAction::Show, .load = box.set().load, .rule = 0, .bytes = key->bytes},
            kStart);
        EXPECT_TRUE(answer.buckets[0].own) << text;
        EXPECT_EQ(answer.buckets[0].remaining, Units{2}) << text;
    }
    // Of what lies beside the addresses that are unwrapped.
    EXPECT_TRUE(passes(box, "64:ff9b::1:0:0"));
    const Result<ReadKey> network = box.read_key("64:ff9b::/64");
    ASSERT_TRUE(network) << network.error().what;
    const KeyAnswer answer = box.ask(
        {.action = KeyAction::Show, .load = box.set().load, .rule = 0, .bytes = network->bytes},
        kStart);
    EXPECT_EQ(answer.buckets[0].remaining, Units{2});
}

TEST(ClientIp, CanBeOverridden) {
    Box box{std::string{kKeyed} +
            "    overrides: {inline: [{key: [192.0.2.0/24], exempt: true}]}\n"};
    for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(passes(box, "64:ff9b::192.0.2.2"));
        EXPECT_TRUE(passes(box, "192.0.2.3"));
    }
    EXPECT_TRUE(passes(box, "192.0.3.3"));
}

TEST(ClientIp, ACutAddressIsInAListAsAWholeOnly) {
    const ListReader lists = lists_of({{"l", "192.0.2.0/25\n192.0.2.128/25\n198.51.100.7\n"}});
    const std::string rules =
        "version: 1\ndata: {lists: {l: {type: cidr, file: l}}}\n"
        "client_ip: {ipv4_prefix: 24}\n"
        "rules: [{id: a, mode: enforce, on_match: drop, when: client.ip in $l}]\n";
    Box box{rules, {}, 4096, &lists};
    EXPECT_FALSE(passes(box, "192.0.2.200"));
    EXPECT_TRUE(passes(box, "198.51.100.7"));
    Problems problems{"f"};
    ASSERT_TRUE(compile_rules({.file = "f", .text = rules, .lists = &lists}, Purpose::Enforce, {},
                              problems));
    ASSERT_EQ(problems.list().size(), 1U);
    EXPECT_NE(problems.list()[0].message.find(
                  "is a network of /24 here, and is in a list only as a whole: the list holds "
                  "198.51.100.7"),
              std::string::npos)
        << problems.list()[0].message;
    EXPECT_EQ(problems.list()[0].at.line, 4U);
}

}  // namespace
}  // namespace sluice::test::client_ip_test
