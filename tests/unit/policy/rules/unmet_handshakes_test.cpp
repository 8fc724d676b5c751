#include "tests/unit/policy/outcome.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

namespace sluice::unmet_handshakes_test {
namespace {

constexpr std::string_view kEstablished = "from: established";

std::string file(std::string_view when, std::string_view from) {
    return "version: 1\nrules:\n  - id: open\n" +
           (when.empty() ? "" : "    when: '" + std::string{when} + "'\n") +
           "    key: [ip.src]\n    limits: [{algorithm: concurrency, count: 5, idle: 60s, " +
           std::string{from} + "}]\n";
}

bool warns(std::string_view when, std::string_view what, std::string_view from = kEstablished) {
    const std::string text = file(when, from);
    const test::Outcome outcome = test::compile({.file = "r", .text = text});
    EXPECT_TRUE(outcome.rules.has_value()) << text;
    return std::any_of(
        outcome.problems.begin(), outcome.problems.end(), [what](const Problem& problem) {
            return problem.severity == Severity::Warning && problem.at.line == 3 &&
                   problem.message.find("counts no connection: `from: established` asks about " +
                                        std::string{what}) != std::string::npos;
        });
}

TEST(UnmetHandshakes, AreThoseOfConditionsThatOnlyTheSynMeets) {
    for (const std::string_view when :
         {"tcp.flags.syn", "tcp.flags.syn and not tcp.flags.ack", "tcp.flags eq 2",
          "l4.dport eq 80 and tcp.flags.syn or tcp.flags.rst", "not tcp.flags.ack",
          "tcp.flags in {2 18 4..7}"}) {
        EXPECT_TRUE(warns(when, "the ACK")) << when;
        EXPECT_FALSE(warns(when, "the SYN")) << when;
    }
}

TEST(UnmetHandshakes, AreThoseOfConditionsThatNoSynMeets) {
    for (const std::string_view when :
         {"not tcp.flags.syn", "tcp.flags.ack", "tcp.flags eq 16", "tcp.flags in {16 24}"}) {
        EXPECT_TRUE(warns(when, "the SYN")) << when;
        EXPECT_FALSE(warns(when, "the ACK")) << when;
    }
}

TEST(UnmetHandshakes, AreNoneWhereBothMay) {
    for (const std::string_view when : {"", "l4.dport eq 80", "tcp.flags.syn or l4.dport eq 80",
                                        "tcp.flags in {2 24}", "not tcp.flags.rst"}) {
        EXPECT_FALSE(warns(when, "")) << when;
    }
}

TEST(UnmetHandshakes, CountedFromTheSynNeedNoAck) {
    EXPECT_FALSE(warns("tcp.flags.syn", "", "from: syn"));
}

}  // namespace
}  // namespace sluice::unmet_handshakes_test
