#include "tests/unit/policy/outcome.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace sluice::idle_limits_test {
namespace {

struct IdleCase {
    std::string_view when;
    std::string_view key;
    std::string_view limit;
    std::string_view said = "";  // of the warning; empty: there is none
};
constexpr std::string_view kFew = "{algorithm: token_bucket, rate: 5/s, burst: 5}";
constexpr std::string_view kFewConnections =
    "{algorithm: token_bucket, rate: 5/s, burst: 5, per: connection}";
constexpr std::string_view kPorts = "{algorithm: distinct, of: l4.dport, count: 20, window: 60s}";

std::string warnings_of(const IdleCase& one) {
    const std::string text =
        "version: 1\nrules:\n  - id: some\n" +
        (one.when.empty() ? "" : "    when: '" + std::string{one.when} + "'\n") + "    key: [" +
        std::string{one.key} + "]\n    limits: [" + std::string{one.limit} + "]\n";
    const test::Outcome outcome = test::compile({.file = "r", .text = text});
    EXPECT_TRUE(outcome.rules.has_value()) << text;
    std::string said;
    for (const Problem& problem : outcome.problems) {
        if (problem.message.find("its limit 1 can never") != std::string::npos) {
            EXPECT_EQ(problem.at.line, 3U);
            said += problem.message;
        }
    }
    return said;
}

TEST(IdleLimits, AreWarnedOf) {
    const IdleCase kCases[] = {
        {"tcp.flags.syn and not tcp.flags.ack", "ip.src",
         "{algorithm: distinct, of: icmp.type, count: 3, window: 60s}",
         "never count anything: no packet has such values of both"},
        {"ip.proto eq \"udp\"", "ip.src",
         "{algorithm: distinct, of: icmp.type, count: 3, window: 60s}", "ip.proto and icmp.type"},
        {"ip.proto eq \"udp\"", "ip.src", kFewConnections, "TCP alone has it"},
        {"l4.dport eq 80 and not tcp.flags.syn", "ip.src", kFewConnections,
         "are not what it counts"},
        {"tcp.flags eq 16", "ip.src", kFewConnections, "never count anything"},
        {"ip.proto eq \"icmp\"", "l4.dport", kFew, "have ports"},
        {"eth.type eq 2054", "ip.src", kFew, "never count anything"},
        {"", "ip.src", "{algorithm: distinct, of: ip.src, count: 3, window: 60s}",
         "stands in the key"},
        {"l4.dport eq 80", "ip.src", kPorts, "no more than 1 value of `of`"},
        {"l4.dport in {1..20}", "ip.src", kPorts, "no more than 20 values of `of`"},
    };
    for (const IdleCase& one : kCases) {
        EXPECT_NE(warnings_of(one).find(one.said), std::string::npos)
            << one.when << ", " << one.limit << ": " << warnings_of(one);
        EXPECT_FALSE(warnings_of(one).empty()) << one.when;
    }
}

TEST(IdleLimits, AreNoneOfWhatSomePacketReaches) {
    const IdleCase kCases[] = {
        {"", "ip.src", kFew},
        {"", "ip.src", kFewConnections},
        {"ip.src in {10.0.0.0/8}", "ip.src", kFew},
        {"tcp.flags.syn", "ip.src", kFewConnections},
        {"l4.dport eq 80", "ip.src", kFewConnections},
        {"ip.proto eq \"udp\" or tcp.flags.syn", "ip.src", kFewConnections},
        {"ip.proto eq \"icmp\"", "icmp.type", kFew},
        {"tcp.flags.syn and not tcp.flags.ack", "ip.src", kPorts},
        {"l4.dport in {1..21}", "ip.src", kPorts},
        {"l4.dport eq 80 or ip.proto eq \"udp\"", "ip.src", kPorts},
        {"", "\"prefix(ip.src, 24|64)\"",
         "{algorithm: distinct, of: ip.src, count: 3, window: 60s}"},
        {"", "ip.src", "{algorithm: distinct, of: ip.dst, count: 3, window: 60s}"},
    };
    for (const IdleCase& one : kCases) {
        EXPECT_EQ(warnings_of(one), "") << one.when << ", " << one.limit;
    }
}

TEST(IdleLimits, OfKeysThatShareAreNone) {
    const std::string text =
        "version: 1\nrules:\n  - id: some\n    when: ip.proto eq \"icmp\"\n    key: [l4.dport]\n"
        "    missing_key: share\n    limits: [{algorithm: token_bucket, rate: 5/s, burst: 5}]\n";
    const test::Outcome outcome = test::compile({.file = "r", .text = text});
    for (const Problem& problem : outcome.problems) {
        EXPECT_EQ(problem.message.find("can never"), std::string::npos) << problem.message;
    }
}

}  // namespace
}  // namespace sluice::idle_limits_test
