#include "lib/policy/limits/promise.hpp"

#include "lib/policy/compile.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice {
namespace {

std::string promise_for(const std::string& limit, const std::string& more = "") {
    const std::string text = "version: 1\nrules:\n  - id: a\n    key: [ip.src]\n" + more +
                             "    limits: [{" + limit + "}]\n";
    Problems problems{"r"};
    const auto compiled =
        compile_rules({.file = "r", .text = text}, Purpose::Enforce, {}, problems);
    return compiled ? promise_text(compiled->rules.front().limits.front())
                    : render(problems.list().front(), text);
}

TEST(Promise, IsTheMostInAnyWindow) {
    struct Case {
        const char* limit;
        const char* text;
    };
    for (const Case& one :
         {Case{"algorithm: token_bucket, rate: 300/m, burst: 50", "the most in any minute: 350"},
          {"algorithm: leaky_bucket, rate: 10/s, queue: 5", "the most in any second: 15"},
          {"algorithm: token_bucket, per: byte, rate: 8Mbit/s, burst: 1500B",
           "the most in any second: 1001500 bytes"},
          {"algorithm: fixed_window, count: 10, window: 90s", "the most in any 90 seconds: 20"},
          {"algorithm: sliding_window, count: 10, window: 1h", "the most in any hour: 19"},
          {"algorithm: sliding_counters, count: 10, window: 60s", "the most in any minute: 10"},
          {"algorithm: sliding_log, count: 10, window: 500ms",
           "the most in any 500 milliseconds: 10"},
          {"algorithm: concurrency, count: 3, idle: 60s", "the most open at once: 3"},
          {"algorithm: distinct, of: l4.dport, count: 7, window: 10s",
           "the most in any 10 seconds: 14"},
          {"algorithm: srtcm, cir: 10/s, cbs: 5, ebs: 5", ""}}) {
        EXPECT_EQ(promise_for(one.limit), one.text) << one.limit;
    }
}

TEST(Promise, SaysWhatACostTakes) {
    EXPECT_EQ(promise_for("algorithm: token_bucket, rate: 10/s, burst: 20", "    cost: 3\n"),
              "the most in any second: 30, each counted 3 times");
}

}  // namespace
}  // namespace sluice
