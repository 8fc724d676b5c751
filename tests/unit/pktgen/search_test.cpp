#include "tests/pktgen/search.hpp"

#include <gtest/gtest.h>

namespace sluice::pktgen::search_test {
namespace {

bool never() {
    return false;
}

// Forwards up to a rate and drops what is above it.
struct Device {
    double holds = 1e6;
    double sender = 10e6;  // what the generator attains at most
    int trials = 0;
    TrialOutcome operator()(double rate) {
        ++trials;
        TrialOutcome trial{.asked = rate};
        trial.attained = rate == 0 ? sender : std::min(rate, sender);
        trial.sent = static_cast<std::uint64_t>(trial.attained);
        trial.received = static_cast<std::uint64_t>(std::min(trial.attained, holds));
        return trial;
    }
};

TEST(Search, FindsWhatADeviceHoldsWithinTheTolerance) {
    for (const double holds : {12'345.0, 1e6, 4.2e6, 9.99e6}) {
        Device device{.holds = holds};
        const SearchResult found = search_throughput({.highest = 10e6}, device, never);
        EXPECT_LE(found.rate, holds);
        EXPECT_GE(found.rate, holds - 0.01 * 10e6);
    }
}

TEST(Search, WithoutABoundBeginsWithWhatTheSenderAttains) {
    Device device{.holds = 3e6};
    const SearchResult found = search_throughput({}, device, never);
    EXPECT_DOUBLE_EQ(found.highest, 10e6);
    EXPECT_NEAR(found.rate, 3e6, 0.1e6);
    EXPECT_LE(device.trials, 9);
}

TEST(Search, ADeviceThatHoldsEverythingTakesOneTrial) {
    Device device{.holds = 1e9};
    EXPECT_DOUBLE_EQ(search_throughput({}, device, never).rate, 10e6);
    EXPECT_EQ(device.trials, 1);
}

TEST(Search, ARateThatWasNotSentIsNotHeld) {
    Device device{.holds = 1e9, .sender = 5e6};
    const SearchResult found =
        search_throughput({.highest = 8e6, .tolerance = 0.001}, device, never);
    EXPECT_NEAR(found.rate, 5e6 / 0.99, 0.02e6);
    EXPECT_EQ(found.trials.front().why, "not sent");
}

TEST(Search, OneFrameThatIsLostFailsATrial) {
    TrialOutcome trial{.asked = 1000, .attained = 1000, .sent = 1'000'000, .received = 999'999};
    judge(trial, {});
    EXPECT_FALSE(trial.passed);
    EXPECT_EQ(trial.why, "lost");
    trial.why = {};
    judge(trial, {.loss = 1e-6});
    EXPECT_TRUE(trial.passed);
}

TEST(Search, EachDirectionHasToHold) {
    const TrialOutcome whole{.asked = 100, .attained = 100, .sent = 1000, .received = 1000};
    for (const auto& [back, why] : {std::pair{OneWay{100, 1000, 1000}, ""},
                                    {OneWay{100, 1000, 999}, "lost"},
                                    {OneWay{50, 500, 500}, "not sent"},
                                    {OneWay{}, "nothing sent"}}) {
        TrialOutcome trial = whole;
        trial.back = back;
        judge(trial, {});
        EXPECT_EQ(trial.why, why);
        EXPECT_EQ(trial.passed, trial.why.empty());
    }
}

TEST(Search, WithoutABoundBothWaysBeginWithTheSlowerOnes) {
    const auto device = [](double rate) {
        TrialOutcome trial{.asked = rate, .attained = 10, .sent = 10, .received = 10};
        trial.back = OneWay{8, 8, 8};
        return trial;
    };
    EXPECT_EQ(search_throughput({}, device, never).rate, 8);
}

TEST(Search, NothingSentIsNoThroughput) {
    const auto dead = [](double rate) { return TrialOutcome{.asked = rate}; };
    const SearchResult found = search_throughput({}, dead, never);
    EXPECT_EQ(found.rate, 0);
    EXPECT_EQ(found.trials.size(), 1U);
    EXPECT_EQ(found.trials.front().why, "nothing sent");
}

TEST(Search, ADeviceThatAlwaysLosesEndsWithNone) {
    const auto leaky = [](double rate) {
        return TrialOutcome{.asked = rate, .attained = 1e6, .sent = 1000, .received = 998};
    };
    EXPECT_EQ(search_throughput({.highest = 1e6}, leaky, never).rate, 0);
}

TEST(Search, AFailedTrialIsTriedAgainAsOftenAsAsked) {
    int trials = 0;
    const auto hiccup = [&](double rate) {
        ++trials;
        return TrialOutcome{
            .asked = rate, .attained = rate, .sent = 1000, .received = trials < 3 ? 999U : 1000U};
    };
    const SearchResult found = search_throughput({.highest = 1e6, .repeats = 2}, hiccup, never);
    EXPECT_DOUBLE_EQ(found.rate, 1e6);
    EXPECT_EQ(found.trials.size(), 3U);
}

TEST(Search, EndsWhenTheUserSaysSo) {
    int trials = 0;
    const auto losing = [&](double rate) {
        ++trials;
        return TrialOutcome{.asked = rate, .attained = rate, .sent = 10, .received = 1};
    };
    const SearchResult found =
        search_throughput({.highest = 1e6}, losing, [&] { return trials == 3; });
    EXPECT_TRUE(found.interrupted);
    EXPECT_EQ(trials, 3);
    EXPECT_EQ(found.trials.size(), 2U);
}

}  // namespace
}  // namespace sluice::pktgen::search_test
