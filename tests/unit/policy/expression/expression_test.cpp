#include "lib/policy/expression/expression.hpp"

#include "lib/packet/parse.hpp"
#include "tests/packets/compiled_rules.hpp"
#include "tests/packets/tree_oracle.hpp"
#include "tests/rounds.hpp"
#include "tests/unit/policy/parsed_frame.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sluice::expression_test {
namespace {

using test::arp;
using test::Frame;
using test::icmpv6;
using test::parse_of;
using test::ParsedFrame;
using test::tcp;
using test::udp;

bool compiled_says(const Expression& tree, const ParsedFrame& seen) {
    return test::compiled_says(tree, seen.headers, seen.frame);
}
bool tree_says(const Expression& tree, const ParsedFrame& seen) {
    return test::tree_says(tree, seen.headers, seen.frame);
}

struct Row {
    std::string_view text;
    Frame frame;
    bool want;
};

const Frame kDns = udp().src("10.1.2.3").dport(53).payload(20);
const Frame kSyn = tcp().src("10.1.2.3").dport(443).flags(0x002);

const Row kRows[] = {
    {"ip.proto eq 17", kDns, true},
    {"ip.proto == 6", kDns, false},
    {"ip.proto ne 6", kDns, true},
    {"ip.proto ne 6", arp(), false},  // absent: ne is false too
    {"not ip.proto eq 6", arp(), true},
    {"l4.dport lt 54", kDns, true},
    {"l4.dport lt 53", kDns, false},
    {"l4.dport <= 53", kDns, true},
    {"l4.dport gt 52", kDns, true},
    {"l4.dport >= 54", kDns, false},
    {"l4.dport lt 1", kDns, false},
    {"l4.dport gt 65534", kDns, false},
    {"l4.dport in {443 53 80}", kDns, true},
    {"l4.dport in {443 80}", kDns, false},
    {"eth.type eq 0x0806", arp(), true},
    {"eth.type in {0x0806 0x8809}", kDns, false},
    {"tcp.flags.syn", kSyn, true},
    {"tcp.flags.ack", kSyn, false},
    {"tcp.flags.syn and not tcp.flags.ack", kSyn, true},
    {"tcp.flags.syn eq 0", kSyn, false},
    {"tcp.flags eq 0x02", kSyn, true},
    {"not tcp.flags.syn", kDns, true},
    {"payload.len", kDns, true},
    {"payload.len", kSyn, false},
    {"ip.src eq 10.1.2.3", kDns, true},
    {"ip.src ne 10.1.2.3", kDns, false},
    {"ip.src ne 10.1.2.4", kDns, true},
    {"ip.src ne 10.1.2.4", arp(), false},
    {"ip.src in {192.0.2.0/24 10.0.0.0/8 2001:db8::/32}", kDns, true},
    {"ip.src in {192.0.2.0/24 2001:db8::/32}", kDns, false},
    {"ip.src in {2001:db8::/32}", udp().src("2001:db8::7"), true},
    {"ip.src in {0.0.0.0/0}", udp().src("2001:db8::7"), false},
    {"prefix(ip.src, 24) eq 10.1.2.0/24", kDns, true},
    {"l4.dport in {22 50..60}", kDns, true},
    {"l4.dport in {0x35..0x35}", kDns, true},
    {"l4.dport in {22 54..60 0..52}", kDns, false},
    {"ip.proto eq \"udp\"", kDns, true},
    {"ip.proto in {\"TCP\" \"Udp\" 47}", kDns, true},
    {"ip.proto ne \"udp\"", kDns, false},
    {"dir eq \"IN\"", kDns, true},
    {"prefix(ip.src, 24|64) eq 10.1.3.0", kDns, false},
    {"prefix(ip.src, 24|64) in {2001:db8::/64}", udp().src("2001:db8::7"), true},
    {"eth.src eq 16:17:18:19:1a:1b", kDns, true},
    {"eth.src ne 16:17:18:19:1a:1b", kDns, false},
    {"dir eq \"in\"", kDns, true},
    {"dir ne \"in\"", kDns, false},
    {"port eq \"uplink\"", kDns, true},
    {"port in {\"a\" \"b\"}", kDns, false},
    {"ip.frag eq \"none\"", kDns, true},
    {"ip.frag in {\"first\" \"later\"}", udp().payload(8).frag(1, true), true},
    {"l4.dport eq 53", udp().payload(8).dport(53).frag(1, true), false},
    {"ip.version eq 6 and icmp.type in {133 134 135 136}", icmpv6(135, 0), true},
    {"vlan.id eq 5", udp().vlan(5), true},
    {"vlan.id", udp().vlan(0), false},
    // not binds closest, then and, then or.
    {"ip.proto eq 6 or ip.proto eq 17 and l4.dport eq 99", kSyn, true},
    {"(ip.proto eq 6 or ip.proto eq 17) and l4.dport eq 99", kSyn, false},
    {"not ip.proto eq 6 or l4.dport eq 443", kSyn, true},
    {"not (ip.proto eq 6 or l4.dport eq 443)", kSyn, false},
    {"not not ip.proto eq 6", kSyn, true},
};

TEST(Expression, MeansWhatTheLanguageSays) {
    for (const Row& row : kRows) {
        const auto parsed = parse_expression(row.text);
        ASSERT_TRUE(std::holds_alternative<ParsedExpression>(parsed))
            << row.text << ": " << std::get<Remark>(parsed).text;
        const Expression& tree = std::get<ParsedExpression>(parsed).tree;
        const ParsedFrame seen = parse_of(row.frame);
        EXPECT_EQ(compiled_says(tree, seen), row.want) << row.text;
        EXPECT_EQ(tree_says(tree, seen), row.want) << row.text;
    }
}

// Random trees over a few fields, where collisions are likely.
std::string random_text(std::mt19937& random, unsigned depth) {
    static constexpr std::array kLeaves = {
        "ip.proto eq 17",         "ip.proto ne 6",      "l4.dport in {53 80 443}",
        "l4.dport lt 100",        "l4.sport ge 40000",  "tcp.flags.syn",
        "ip.src in {10.0.0.0/8}", "ip.src ne 10.1.2.3", "prefix(ip.dst, 8|16) eq 198.0.0.0/8",
        "ip.frag eq \"later\"",   "payload.len gt 10",  "vlan.id eq 5",
        "eth.type eq 0x0806",     "ip.ttl le 64",       "icmp.type",
        "dir eq \"out\"",
    };
    const auto kind = depth == 0 ? 0UL : random() % 5;
    switch (kind) {
        case 1:
            return "not " + random_text(random, depth - 1);
        case 2:
            return "(" + random_text(random, depth - 1) + " and " + random_text(random, depth - 1) +
                   ")";
        case 3:
            return "(" + random_text(random, depth - 1) + " or " + random_text(random, depth - 1) +
                   ")";
        case 4:
            return random_text(random, depth - 1) + " and " + random_text(random, depth - 1) +
                   " or " + random_text(random, depth - 1);
        default:
            return kLeaves[random() % kLeaves.size()];
    }
}

TEST(Expression, CompiledAndTreeAgreeOnRandomOnes) {
    const ParsedFrame packets[] = {
        parse_of(kDns),
        parse_of(kSyn, Direction::Out),
        parse_of(arp()),
        parse_of(icmpv6(135, 0)),
        parse_of(udp().vlan(5).dport(80)),
        parse_of(udp().payload(16).frag(2, true)),
        parse_of(tcp().src("10.1.2.3").dport(80).payload(50)),
        parse_of(udp().src("2001:db8::1")),
    };
    std::mt19937 random{11};
    int matched = 0;
    const int expressions = test::rounds(700);
    for (int i = 0; i < expressions; ++i) {
        const std::string text = random_text(random, 4);
        const auto parsed = parse_expression(text);
        ASSERT_TRUE(std::holds_alternative<ParsedExpression>(parsed)) << text;
        const Expression& tree = std::get<ParsedExpression>(parsed).tree;
        const auto classifier = test::compile_conditions(std::span{&tree, 1});
        ASSERT_TRUE(classifier.has_value()) << text;
        for (const ParsedFrame& seen : packets) {
            const bool want = tree_says(tree, seen);
            ASSERT_EQ(!test::rules_for(*classifier, seen.headers, seen.frame).empty(), want)
                << text;
            matched += want ? 1 : 0;
        }
    }
    EXPECT_GT(matched, expressions * 4);  // of eight packets each
}

struct Wrong {
    std::string_view text;
    std::size_t offset;
    std::string_view says;
};

const Wrong kWrong[] = {
    {"", 0, "expected a field"},
    {"ip.protocol eq 6", 0, "did you mean `ip.proto`?"},
    {"l4.port eq 6", 0, "unknown field `l4.port`"},
    {"http.method eq \"GET\"", 0, "`http.method`; did you mean `http.request.method`?"},
    {"http.path eq \"/\"", 0, "`http.path`; did you mean `http.request.uri.path`?"},
    {"http.request.path eq \"/\"", 0, "did you mean `http.request.uri.path`?"},
    {"host eq \"a\"", 0, "`host`; did you mean `http.host`?"},
    {"sni eq \"a\"", 0, "`sni`; did you mean `tls.sni` or `quic.sni`?"},
    {"dport eq 80", 0, "`dport`; did you mean `l4.dport`?"},
    {"pathology eq 80", 0, "`pathology`; `sluicectl fields` lists all"},
    {"ip.proto", 99, ""},  // a number alone is a condition
    {"ip.src", 6, "an operator after ip.src (eq, ne, in)"},
    {"ip.ttl 5", 7, "an operator after ip.ttl (eq, ne, lt, le, gt, ge, in)"},
    {"ip.proto eq", 11, "a value for ip.proto"},
    {"ip.proto eq x", 12, "not a decimal number"},
    {"ip.proto eq 256", 12, "above the largest, 255"},
    {"ip.proto eq 017", 12, "leading zeroes"},
    {"l4.dport eq 70000", 12, "above the largest, 65535"},
    {"l4.dport eq \"80\"", 12, "without quotes"},
    {"l4.dport eq 80 81", 15, "expected `and`, `or` or the end"},
    {"l4.dport in 80", 12, "`{` or $list"},
    {"ip.src in 10.0.0.0/8", 10, "expected `{` or $list after `in`, such as {10.0.0.0/8}, found"},
    {"ip.src in or l4.dport eq 80", 10, "after `in`, found `or`"},
    {"ip.src in and l4.dport eq 80", 10, "after `in`, found `and`"},
    {"tls.sni in not l4.dport eq 80", 11, "after `in`, found `not`"},
    {"tls.sni in \"or\"", 11, "such as {\"or\"}, found"},
    {"tls.sni in \"a\"", 11, "such as {\"a\"}, found"},
    {"tcp.dstport eq 80", 0, "did you mean `l4.dport`?"},
    {"udp.sport eq 80", 0, "did you mean `l4.sport`?"},
    {"src.ip eq 10.0.0.1", 0, "did you mean `ip.src`?"},
    {"ip.daddr eq 10.0.0.1", 0, "did you mean `ip.dst`?"},
    {"tls.servername eq \"a\"", 0, "did you mean `tls.sni`?"},
    {"cookie eq \"a\"", 0, "did you mean `http.cookies[\"name\"]`?"},
    {"x.y eq 1", 0, "`sluicectl fields` lists all"},
    {"l4.dport in {80,81}", 15, "without commas"},
    {"l4.dport in {80-90}", 13, "`l4.dport in {80..90}`"},
    {"l4.dport eq 80..90", 12, "stands in a set: `l4.dport in {80..90}`"},
    {"l4.dport in {22 90..80}", 16, "ends before it begins"},
    {"l4.dport in {80..}", 13, "`` is not a decimal number"},
    {"l4.dport in {80..70000}", 13, "above the largest, 65535"},
    {"ip.src in {10.0.0.1..10.0.0.9}", 11, "expected an address"},
    {"ip.proto eq \"upd\"", 12, "did you mean `udp`?"},
    {"l4.dport eq htpp", 12, "found `htpp`; did you mean `80`, http?"},
    {"l4.dport eq \"https\"", 12, "found `https`; write `443`"},
    {"l4.sport in {22 Domain}", 16,
     "l4.sport is a number from 0 to 65535; found `Domain`; write `53`"},
    {"l4.dport eq zzzzzzzz", 12, "found `zzzzzzzz`"},
    {"ip.proto eq udp", 12, "`udp` is not a decimal number"},
    {"ip.proto eq TCP", 12, "a name stands in quotes: write `\"tcp\"`"},
    {"ip.proto in {6 udp}", 15, "a name stands in quotes: write `\"udp\"`"},
    {"ip.proto eq tpc", 12, "its names stand in quotes, such as `\"icmp\"`"},
    {"tls.handshake.type eq client_hello", 22, "write `\"client_hello\"`"},
    {"dns.qtype eq ANY", 13, "a name stands in quotes: write `\"ANY\"`"},
    {"dns.qtype in {1 aaaa}", 16, "write `\"AAAA\"`"},
    {"dns.qtype eq \"aaaaa\"", 13, "a name such as \"A\"; found \"aaaaa\"; did you mean `AAAA`?"},
    {"dns.qtype eq \"TYPE65\"", 13, "a number or a name such as"},
    {"dns.qr eq \"A\"", 10, "without quotes"},
    {"ip.ttl eq \"udp\"", 10, "without quotes"},
    {"prefix(!ip.src, 8) eq 10.0.0.0/8", 7, "write `not`"},
    {"prefix(ip.src, 8", 16, "after the prefix length"},
    {"prefix(ip.src) eq 10.0.0.0", 13, "before the prefix length"},
    {"lower(ip.src) eq \"x\"", 6, "takes a text"},
    {"lower(lower(http.host)) eq \"x\"", 6, "unknown field `lower`"},
    {"path_prefix(http.host, 1) eq \"x\"", 12, "takes a path, http.request.uri.path; http.host"},
    {"path_prefix(ip.src, 1) eq \"x\"", 12, "takes a path"},
    {"path_prefix(http.request.uri.path) eq \"/\"", 33, "before the number of segments"},
    {"path_prefix(http.request.uri.path, 0) eq \"/\"", 35, "segments from 1 to 64"},
    {"path_prefix(http.request.uri.path, 65) eq \"/\"", 35, "segments from 1 to 64"},
    {"path_prefix(http.request.uri.path, 1 eq \"/\"", 37, "after the arguments of path_prefix"},
    {"path_prefix http.host", 12, "after path_prefix"},
    {"path_prefix(http.request.uri.path, 1) lt \"/\"", 38, "orders numbers"},
    {"path_prefix(http.request.uri.path, 1) eq \"/a/b\"", 41,
     "path_prefix(http.request.uri.path, 1) is never so: it has at most 1 segment; write \"/a\""},
    {"path_prefix(http.request.uri.path, 2) in {\"/a/b\" \"/a/b/\"}", 41,
     "it has at most 2 segments; write \"/a/b\""},
    {"starts_with(path_prefix(http.request.uri.path, 2), \"/a/b/c\")", 51, "write \"/a/b\""},
    {"ends_with(path_prefix(http.request.uri.path, 2), \"/a/b/c\")", 49, "at most 2 segments"},
    {"path_prefix(http.request.uri.path, 9) contains \"/a?b\"", 47, "a path ends before ?"},
    {"registrable_domain(http.request.uri) eq \"x\"", 19, "takes the name of a host"},
    {"registrable_domain(http.request.headers[\"host\"]) eq \"x\"", 19, "takes the name of a host"},
    {"registrable_domain(tls.sni, 1) eq \"x\"", 26, "after the arguments"},
    {"registrable_domain(http.host) eq \"a.example:80\"", 33, "no port"},
    {"registrable_domain(http.host)", 29, "an operator after registrable_domain(http.host)"},
    {"starts_with(ip.src, \"x\")", 12, "takes a text"},
    {"starts_with(http.host, x)", 23, "double quotes"},
    {"ip.src in {10.0.0.0/8 11.0.0.0/7}", 22, "the network is 10.0.0.0/7"},
    {"ip.src eq 2001:db8::1/32", 10, "the network is 2001:db8::/32"},
    {"ip.src eq 010.0.0.1", 10, "expected an address"},
    {"ip.src eq \"10.0.0.1\"", 10, "without quotes"},
    {"eth.type eq 0x10000", 12, "up to 65535"},
    {"tcp.flags.syn eq 2", 17, "largest, 1"},
    {"dir lt \"in\"", 4, "orders numbers"},
    {"ip.proto eq 6 AND ip.ttl eq 1", 14, "`and`, `or`"},
    {"and ip.proto eq 6", 0, "unknown field `and`"},
    {"ip.proto eq 6 and", 17, "a field, found the end"},
    {"ip.proto eq 6 and   ", 17, "a field, found the end"},
    {"ip.proto eq 6 not", 14, "`and`, `or`"},
    {"l4.dport in {}", 13, "at least one value"},
    {"l4.dport in {80", 15, "found the end"},
    {"(ip.proto eq 6", 14, "to close the parenthesis"},
    {"ip.proto eq 6)", 13, "expected `and`, `or` or the end"},
    {"ip.src eq 10.0.0.1/8", 10, "the network is 10.0.0.0/8"},
    {"ip.src eq 10.0.0", 10, "expected an address"},
    {"ip.src lt 10.0.0.1", 7, "orders numbers"},
    {"ip.src contains \"x\"", 7, "compares text"},
    {"prefix(ip.src, 33|64) eq 10.0.0.0", 15, "at most 32"},
    {"prefix(ip.src, 129) eq 10.0.0.0", 15, "from 0 to 128"},
    {"prefix(l4.dport, 8) eq 1", 7, "takes an address"},
    {"prefix(ip.src, 24) eq 10.1.2.3", 22, "never matches"},
    {"l4.dport lt 0", 12, "from 0 to 65535, and this is never so"},
    {"ip.ttl gt 255", 10, "from 0 to 255, and this is never so"},
    {"ip.version eq 5", 14, "ip.version is 4 or 6"},
    {"eth.src eq 02:00:00:00:00", 11, "a MAC address"},
    {"dir eq \"inn\"", 7, "did you mean `in`?"},
    {"dir eq in", 7, "in double quotes"},
    {"ip.frag eq \"middle\"", 11, "none, first, later"},
    {"ip.proto eq 6 && ip.ttl eq 1", 14, "write `and`"},
    {"ip.proto eq 6 || ip.ttl eq 1", 14, "write `or`"},
    {"!tcp.flags.syn", 0, "write `not`"},
    {"ip.proto = 6", 9, "write `eq`"},
    {"tcp.flags & 2", 10, "bitwise"},
    {"http.host eq \"x", 13, "closing quote"},
    {"http.host eq \"a\\n\"", 15, "may follow a backslash"},
    {"http.request.headers eq \"x\"", 21, "`[` after"},
    {"ip.src in $", 10, "name is missing"},
    {"ip.src in $partners", 10, "no list called $partners"},
    {"ip.proto eq 6 #", 14, "no meaning"},
    {"payload", 7,
     "an operator after payload (eq, ne, in, contains, matches; ne \"\": it is there and not "
     "empty)"},
    {"payload lt \"a\"", 8, "orders numbers"},
    {"payload eq abc", 11, "a text in double quotes"},
    {"payload matches abc", 16, "a regular expression in double quotes"},
    {"payload eq \"\\xg0\"", 12, "two hexadecimal digits"},
    {"payload eq \"\\x1\"", 12, "two hexadecimal digits"},
    {"payload contains \"\"", 17, "the empty text is a part of every text"},
    {"starts_with(payload, \"\")", 21, "the empty text"},
    {"payload in {}", 12, "at least one value"},
    {"payload in {a}", 12, "in double quotes"},
    {"payload matches \"(a)\\1\"", 16, "back references"},
    {"payload matches \"a(?=b)\"", 16, "look-ahead"},
    {"payload matches \"a(?>b)\"", 16, "atomic groups"},
    {"payload matches \"a++\"", 16, "possessive quantifiers"},
    {"payload matches \"ab(c\"", 19, "Missing close parenthesis"},
    {"payload matches \"\\\"b(c\"", 20, "Missing close parenthesis"},
    {"payload matches \"a{3,2}\"", 18, "Invalid repeat"},
    {"payload matches \"(*UTF8)a\"", 17, "a text is bytes"},
    {"payload matches \"a", 16, "no closing quote"},
    {"http.host matches \"(\"", 19, "Missing close parenthesis"},
    {"payload in $x", 11, "no list called $x"},
    {"dns.qtype eq 65536", 13, "65535"},
    {"dns.qr eq 2", 10, "largest"},
    {"dns.qtype eq \"1\"", 13, "without quotes: `1`"},
    {"dns.qtype contains \"1\"", 10, "compares text"},
    {"lower(dns.qtype) eq 1", 6, "takes a text"},
    {"tls.handshake.type eq 2", 22, "always 1, \"client_hello\""},
    {"tls.handshake.type ne 1", 22, "never so"},
    {"tls.handshake.type gt 1", 22, "never so"},
    {"tls.handshake.type lt 1", 22, "never so"},
    {"tls.handshake.type in {2 11}", 22, "never so"},
    {"dns.qname lt \"a\"", 10, "orders numbers"},
    {"dns.qname", 9, "an operator after dns.qname"},
    {"dns.qname contains \"\"", 19, "the empty text"},
    {"dns.name eq \"a\"", 0, "did you mean `dns.qname`?"},
    {"proto.l7 eq \"dsn\"", 12, "did you mean `dns`?"},
    {"proto.l7 in {\"dns\" \"DNS\"}", 12, "proto.l7 is one of"},
};

TEST(Expression, SaysWhereAndWhatIsWrong) {
    for (const Wrong& row : kWrong) {
        TextNames names;
        const auto parsed = parse_expression(row.text, {.text_names = &names});
        if (row.says.empty()) {
            EXPECT_TRUE(std::holds_alternative<ParsedExpression>(parsed)) << row.text;
            continue;
        }
        ASSERT_TRUE(std::holds_alternative<Remark>(parsed)) << row.text;
        const auto& error = std::get<Remark>(parsed);
        EXPECT_EQ(error.offset, row.offset) << row.text << ": " << error.text;
        EXPECT_NE(error.text.find(row.says), std::string::npos) << row.text << ": " << error.text;
    }
}

TEST(Expression, DepthIsBounded) {
    const std::string deep(kMaxExpressionDepth + 10, '(');
    const auto parsed = parse_expression(deep + "ip.proto eq 6");
    ASSERT_TRUE(std::holds_alternative<Remark>(parsed));
    EXPECT_NE(std::get<Remark>(parsed).text.find("too deep"), std::string::npos);
    std::string nots;
    for (int i = 0; i < 100'000; ++i) {
        nots += "not ";
    }
    EXPECT_TRUE(std::holds_alternative<Remark>(parse_expression(nots + "ip.proto")));
}

// What functions make of a text is noted once, whatever stands between its parentheses.
TEST(Expression, NotesWhatFunctionsMakeOfTexts) {
    TextNames names;
    const auto parsed = parse_expression(
        "path_prefix(http.request.uri.path, 2) eq \"/a\" and "
        "lower(path_prefix( http.request.uri.path ,2 )) eq \"/b\" and "
        "ends_with(registrable_domain(tls.sni), \".uk\")",
        {.text_names = &names});
    ASSERT_TRUE(std::holds_alternative<ParsedExpression>(parsed));
    EXPECT_EQ(
        names,
        (TextNames{
            {.kind = TextName::Kind::PathPrefix, .source = TextField::HttpPath, .segments = 2},
            {.kind = TextName::Kind::RegistrableDomain, .source = TextField::TlsSni}}));
    const auto& expression = std::get<ParsedExpression>(parsed);
    EXPECT_EQ(expression.domains, std::vector<std::size_t>{119});
    const std::vector<Expression>& parts = expression.tree.parts;
    ASSERT_EQ(parts.size(), 3U);
    EXPECT_EQ(parts[0].text.field, named_text(0));
    EXPECT_FALSE(parts[0].text.ignore_case);
    EXPECT_EQ(parts[0].text.name, "path_prefix(http.request.uri.path, 2)");
    EXPECT_EQ(parts[1].text.field, named_text(0));
    EXPECT_TRUE(parts[1].text.ignore_case);
    EXPECT_EQ(parts[2].text.field, named_text(1));
    EXPECT_TRUE(parts[2].text.ignore_case);
}

}  // namespace
}  // namespace sluice::expression_test
