#include "tests/packets/verdict_case.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

// What the rule language says of texts, one row a packet: whether the condition holds.
namespace sluice::text_cases_test {
namespace {

using namespace std::string_literals;
using test::arp;
using test::Box;
using test::Frame;
using test::icmp;
using test::kStart;
using test::Octets;
using test::tcp;
using test::udp;

Octets octets(std::string_view text) {
    Octets bytes;
    for (const char c : text) {
        bytes.push_back(static_cast<std::byte>(c));
    }
    return bytes;
}

Frame says(std::string_view text) {
    return udp().carries(octets(text));
}

bool holds(const std::string& condition, const Octets& frame) {
    Box box{"version: 1\nrules:\n  - id: a\n    mode: enforce\n    when: '" + condition +
            "'\n    on_match: drop\n"};
    return box.judge(frame, kStart).verdict == Verdict::Drop;
}

struct Row {
    std::string condition;
    Frame in;
    bool holds;
};

TEST(Texts, HoldAsTheLanguageSays) {
    const Frame later = udp().carries(octets("abcdefgh")).frag(8, false);
    const Row rows[] = {
        {R"(payload contains "bcd")", says("abcde"), true},
        {R"(payload contains "bcd")", says("abde"), false},
        {R"(payload contains "abcde")", says("abcde"), true},
        {R"(payload contains "BCD")", says("abcde"), false},
        {R"(lower(payload) contains "bcd")", says("aBCde"), true},
        {R"(lower(payload) contains "BcD")", says("abCDe"), true},
        {R"(lower(payload) contains "[")", says("{"), false},
        {R"(payload contains "a.c")", says("abc"), false},
        {R"(payload contains "a.c")", says("xa.cx"), true},
        {R"(payload contains "\x00\xff")", says("a\0\xff"s), true},
        {R"(payload contains "\x00\xff")", says("a\0"s), false},
        {R"(payload contains "a\"b\\")", says("xa\"b\\"), true},
        {R"(payload contains "\x0d\x0a")", says("GET\r\n"), true},

        {R"(starts_with(payload, "GET "))", says("GET / HTTP"), true},
        {R"(starts_with(payload, "GET "))", says(" GET / HTTP"), false},
        {R"(starts_with(payload, "GET "))", says("GET"), false},
        {R"(starts_with(payload, "GET "))", says("GET "), true},
        {R"(starts_with(lower(payload), "get "))", says("gEt /"), true},
        {R"(ends_with(payload, "\r"))"s.replace(20, 2, "\\x0d"), says("GET\r"), true},
        {R"(ends_with(payload, ".php"))", says("/a.php"), true},
        {R"(ends_with(payload, ".php"))", says("/a.php "), false},
        {R"(ends_with(payload, ".php"))", says("/a.php\n"), false},
        {R"(ends_with(lower(payload), ".php"))", says("/a.PHP"), true},
        {R"(ends_with(payload, ".php"))", says("php"), false},

        {R"(payload eq "abc")", says("abc"), true},
        {R"(payload eq "abc")", says("abcd"), false},
        {R"(payload eq "abc")", says("ab"), false},
        {R"(payload == "abc")", says("abc"), true},
        {R"(lower(payload) eq "abc")", says("ABC"), true},
        {R"(payload ne "abc")", says("abc"), false},
        {R"(payload ne "abc")", says("abd"), true},
        {R"(payload ne "abc")", arp(), false},
        {R"(not payload eq "abc")", arp(), true},
        {R"(not payload ne "abc")", arp(), true},
        {R"(not payload ne "abc")", says("abc"), true},
        {R"(not payload ne "abc")", says("abd"), false},
        {R"(payload in {"a" "bc" "bcd"})", says("bc"), true},
        {R"(payload in {"a" "bc" "bcd"})", says("bcd"), true},
        {R"(payload in {"a" "bc" "bcd"})", says("b"), false},
        {R"(payload in {"a" "bc" "bcd"})", says("bcde"), false},
        {R"(lower(payload) in {"A" "Bc"})", says("bC"), true},

        // An empty payload is a text; a packet without one has none.
        {R"(payload eq "")", says(""), true},
        {R"(payload eq "")", tcp().dport(80), true},
        {R"(payload eq "")", arp(), false},
        {R"(payload ne "x")", says(""), true},
        {R"(payload matches "^$")", says(""), true},
        {R"(payload matches "^$")", says("a"), false},
        {R"(payload matches "")", says("a"), true},
        {R"(payload matches "")", arp(), false},
        {R"(payload matches "x*")", says(""), true},

        {R"(payload matches "a[0-9]+b")", says("xxa17bxx"), true},
        {R"(payload matches "^a[0-9]+b$")", says("xa17b"), false},
        {R"(payload matches "^a\d+b$")", says("a17b"), true},
        {R"(payload matches "^a\x2eb")", says("a.b"), true},
        {R"(payload matches "^a\x2eb")", says("axb"), false},
        {R"(payload matches "\"q\"")", says("x\"q\""), true},
        {R"(payload matches "a\\b")", says("a\\b"), true},
        {R"(payload matches "a.b")", says("a\nb"), false},
        {R"(payload matches "a.b")", says("a\rb"), true},
        {R"(payload matches "(?s)a.b")", says("a\nb"), true},
        {R"(payload matches "^\x16\x03[\x00-\x03]")", says("\x16\x03\x01xyz"), true},
        {R"(payload matches "ABC")", says("abc"), false},
        {R"(lower(payload) matches "ABC[D-F]")", says("abce"), true},
        {R"(payload matches "(?i)ABC")", says("abc"), true},
        {R"(payload matches "\bfoo\b")", says("a foo."), true},
        {R"(payload matches "\bfoo\b")", says("afoo"), false},

        // Which bytes are the payload.
        {R"(payload eq "abc")", tcp().carries(octets("abc")), true},
        {R"(payload eq "abc")", icmp(8, 0).carries(octets("abc")), true},
        {R"(payload eq "abc")", udp().src("2001:db8::1").carries(octets("abc")), true},
        {R"(payload eq "abc")", says("abc").vlan(7), true},
        {R"(payload eq "abc")", says("abc").pad(20), true},
        {R"(payload eq "ab")", says("abcdef").udp_len(10), true},
        {R"(payload contains "abc")", udp().carries(octets("abcdefgh")).frag(0, true), true},
        {R"(payload contains "abc")", later, false},
        {R"(not payload contains "abc")", later, true},
        {R"(payload ne "x")", later, false},

        // Together.
        {R"(payload contains "a" and payload contains "b")", says("ba"), true},
        {R"(payload contains "a" and payload contains "b")", says("a"), false},
        {R"(payload contains "a" and not payload contains "b")", says("a"), true},
        {R"(payload contains "a" and not payload contains "b")", says("ab"), false},
        {R"(payload contains "a" or l4.dport eq 9)", says("b"), true},
        {R"(payload contains "a" and l4.dport eq 8)", says("a"), false},
        {R"(payload contains "a" and l4.dport eq 9)", says("a"), true},
        {R"(not (payload contains "a" or payload eq "b"))", says("c"), true},
        {R"(payload contains "a" or not payload contains "a")", says("c"), true},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(holds(row.condition, row.in.bytes()), row.holds) << row.condition;
    }
}

// The rules of one file do not get into each other's way, and each packet is looked at anew.
TEST(Texts, OfManyRulesAreFoundAtOnce) {
    std::string rules = "version: 1\nrules:\n";
    for (int i = 0; i < 700; ++i) {
        const std::string word = "w" + std::to_string(i) + ";";
        rules += "  - {id: r" + std::to_string(i) + ", mode: enforce, when: 'payload contains \"" +
                 word + "\"" + (i % 3 == 0 ? " and payload matches \"x[yz]\"" : "") + "'" +
                 ", key: [], limits: [{algorithm: token_bucket, rate: 1/d, burst: 500}]}\n";
    }
    Box box{rules};
    (void)box.judge(says("w3;w5;w699;").bytes(), kStart);
    (void)box.judge(says("w699;xz").bytes(), kStart);
    (void)box.judge(says("w3;xq").bytes(), kStart);
    (void)box.judge_burst(
        {says("xyw3;").bytes(), says("w4;w5;").bytes(), arp().bytes(), says("w5").bytes()}, kStart);
    const auto admitted = [&](std::size_t rule) { return box.counters(rule).admitted.read(); };
    EXPECT_EQ(admitted(3), 1U);
    EXPECT_EQ(admitted(4), 1U);
    EXPECT_EQ(admitted(5), 2U);
    EXPECT_EQ(admitted(699), 1U);
    EXPECT_EQ(admitted(0), 0U);
}

TEST(Texts, AreLookedAtUnderNewRulesToo) {
    const auto rules = [](const char* word) {
        return std::string{
                   "version: 1\nrules:\n  - {id: a, mode: enforce, on_match: drop, when: "
                   "'payload contains \""} +
               word + "\"'}\n";
    };
    Box box{rules("one")};
    EXPECT_EQ(box.judge(says("one").bytes(), kStart).verdict, Verdict::Drop);
    ASSERT_TRUE(box.reload(rules("two")));
    EXPECT_EQ(box.judge(says("one").bytes(), kStart).verdict, Verdict::Pass);
    EXPECT_EQ(box.judge(says("two").bytes(), kStart).verdict, Verdict::Drop);
}

}  // namespace
}  // namespace sluice::text_cases_test
