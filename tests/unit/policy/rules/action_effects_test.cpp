#include "lib/policy/rules/action_effects.hpp"

#include "lib/policy/compile.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice {
namespace {

// "PROTOCOL: DOES; PROTOCOL: DOES".
std::string effects_for(const std::string& action) {
    const std::string text =
        "version: 1\nrules:\n  - id: a\n    mode: enforce\n    key: [ip.src]\n    on_exceed: " +
        action + "\n    limits: [{algorithm: token_bucket, rate: 5/s, burst: 5}]\n";
    Problems problems{"r"};
    const auto compiled =
        compile_rules({.file = "r", .text = text}, Purpose::Enforce, {}, problems);
    if (!compiled) {
        return render(problems.list().front(), text);
    }
    std::string all;
    for (const ActionEffect& one :
         effects_of(compiled->set.rules.front().on_exceed, compiled->set)) {
        all += (all.empty() ? "" : "; ") + std::string{one.protocol} + ": " + one.does;
    }
    return all;
}

TEST(ActionEffects, AreToldByProtocol) {
    struct Case {
        const char* action;
        const char* effects;
    };
    for (const Case& one :
         {Case{"{action: drop}", "all: dropped"},
          {"{action: pass}", "all: passes"},
          {"{action: tag, dscp: 8, pcp: 1}", "all: passes with DSCP 8 and priority 1"},
          {"{action: shape, max_delay: 50ms}",
           "all: held until there is room, 50 ms at most; beyond that dropped"},
          {"{action: reset}",
           "http: reset at both ends; tls: reset at both ends; quic: the connection is refused, "
           "later packets are dropped; other: TCP is reset at both ends, the rest dropped"},
          {"{action: reply, tls_fallback: alert}",
           "http: 429, and the connection ends; tls: an alert, access_denied; quic: the connection "
           "is refused, later packets are dropped; dns: REFUSED, to one of 2, the rest dropped; "
           "other: dropped"},
          {"{action: decoy, slip: 1}",
           "http: 200, and the connection ends; tls: reset at both ends; quic: the connection is "
           "refused, later packets are dropped; dns: an answer without records; other: dropped"},
          {"{action: dns_truncate, slip: 3, then: reset}",
           "dns: told to ask again over TCP, to one of 3, the rest reset at both ends; other: "
           "reset "
           "at both ends"}}) {
        EXPECT_EQ(effects_for(one.action), one.effects) << one.action;
    }
}

}  // namespace
}  // namespace sluice
