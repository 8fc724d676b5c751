#include "control/daemon/refusal_pace.hpp"

#include <gtest/gtest.h>

namespace sluice::refusal_pace_test {
namespace {

TEST(RefusalPace, ARefusalInTimeIsAnsweredAndManyAreNot) {
    RefusalPace pace;
    RefusalPace::Clock::time_point now{std::chrono::hours{1}};
    for (unsigned i = 0; i < RefusalPace::kAnsweredAtOnce; ++i) {
        EXPECT_TRUE(pace.answers(now));
    }
    EXPECT_FALSE(pace.answers(now));
    now += RefusalPace::kAnsweredEvery;
    EXPECT_TRUE(pace.answers(now));
    EXPECT_FALSE(pace.answers(now));
    now += std::chrono::hours{1};
    unsigned answered = 0;
    while (pace.answers(now)) {
        ++answered;
    }
    EXPECT_EQ(answered, RefusalPace::kAnsweredAtOnce);
}

TEST(RefusalPace, FewRefusalsAreRecorded) {
    RefusalPace pace;
    RefusalPace::Clock::time_point now{std::chrono::hours{1}};
    unsigned recorded = 0;
    for (int second = 0; second < 24 * 3600; ++second) {
        now += std::chrono::seconds{1};
        recorded += pace.records(now) ? 1 : 0;
    }
    EXPECT_LE(recorded, RefusalPace::kRecordedAtOnce + 24 * 6);
    EXPECT_GE(recorded, 24U * 6);
}

}  // namespace
}  // namespace sluice::refusal_pace_test
