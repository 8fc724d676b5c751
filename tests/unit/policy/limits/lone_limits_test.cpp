#include "lib/policy/limits/lone_limits.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace sluice::lone_limits_test {
namespace {

TEST(LoneLimits, AreTheListOfARule) {
    for (const std::string_view text :
         {"- {algorithm: token_bucket, rate: 10/s, burst: 5}\n- algorithm: sliding_log\n  count: "
          "3\n"
          "  window: 1s\n  per: request\n",
          "limits:\n  - {algorithm: token_bucket, rate: 10/s, burst: 5}\n  - {algorithm: "
          "sliding_log, count: 3, window: 1s, per: request}\n"}) {
        const LoneLimits read = read_lone_limits(text, 2);
        ASSERT_TRUE(read.limits.has_value()) << text;
        ASSERT_EQ(read.limits->size(), 2U);
        const LoneLimit& bucket = read.limits->front();
        const LoneLimit& log = read.limits->back();
        EXPECT_EQ(bucket.text, "token_bucket 10/s burst 5");
        EXPECT_EQ(bucket.bound, "5 packets + 10/s * W");
        EXPECT_EQ(bucket.algorithm, "token_bucket");
        EXPECT_EQ(log.per, Per::Request);
        EXPECT_EQ(log.words.size(), 4U);
        EXPECT_TRUE(read.problems.empty());
    }
}

struct WrongRow {
    std::string_view text;
    Position at;
    std::string_view says;
};

TEST(LoneLimits, SayWhatIsWrongAndWhere) {
    const WrongRow rows[] = {
        {"- {algorithm: token_bucket, rate: 10/x, burst: 5}", {1, 35}, "rate"},
        {"- {algorithm: sliding_log, count: 1, window: 1s}\n- {algorithm: sliding_logg}",
         {2, 15},
         "sliding_log"},
        {"- per_name", {1, 3}, "known in their rule file only"},
        {"{algorithm: sliding_log, count: 1, window: 1s}", {1, 1}, "list of limits"},
        {"[]", {1, 1}, "one to 2 limits"},
        {"- {}\n- {}\n- {}", {1, 1}, "one to 2 limits, found 3"},
    };
    for (const WrongRow& row : rows) {
        const LoneLimits read = read_lone_limits(row.text, 2);
        EXPECT_FALSE(read.limits.has_value()) << row.text;
        ASSERT_FALSE(read.problems.empty()) << row.text;
        EXPECT_EQ(read.problems.front().at.line, row.at.line) << row.text;
        EXPECT_EQ(read.problems.front().at.column, row.at.column) << row.text;
        EXPECT_NE(read.problems.front().message.find(row.says), std::string::npos)
            << read.problems.front().message;
    }
    for (const std::string_view text : {"", "# nothing", "- [", "\xff"}) {
        const LoneLimits read = read_lone_limits(text, 2);
        EXPECT_FALSE(read.limits.has_value());
        EXPECT_FALSE(read.problems.empty());
    }
}

}  // namespace
}  // namespace sluice::lone_limits_test
