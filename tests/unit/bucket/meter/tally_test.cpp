#include "lib/bucket/meter/sliding_counters.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sluice::tally_test {
namespace {

using namespace std::chrono_literals;

// What workers tell each other of sub-windows: sums, and when the units were spent.
class Tallies : public testing::Test {
protected:
    static constexpr Nanoseconds kPart = 10ms;
    const SlidingCountersLimit limit_ =
        *make_sliding_counters(*make_window_numbers(Units{100}, 10 * kPart), 10, Edge::Lenient);
    const SubWindowSlots slots_{limit_};
    LinePool pool_{64};
    SlidingCounters owner_;
    SlidingCounters copy_;

    void SetUp() override {
        owner_.begin(at(0));
        copy_.begin(at(0) + 1ns);
    }
    static Instant at(int part) { return Instant{1s} + part * kPart; }
    void spend(SlidingCounters& counters, int part, std::uint64_t units) {
        ASSERT_TRUE(counters.make_room(slots_, pool_, at(part)));
        counters.charge(slots_, pool_, at(part), Units{units});
    }
    [[nodiscard]] std::uint64_t sum(const SlidingCounters& counters, int part) const {
        return counters.tally(slots_, pool_, at(part)).sum;
    }
    void tell(int part, std::uint64_t more, bool anew) {
        copy_.raise(slots_, pool_, at(part),
                    {owner_.tally(slots_, pool_, at(part)), more, owner_.newest(), anew});
    }
};

TEST_F(Tallies, WhatIsNotKnownIsTakenAsSpentNow) {
    spend(owner_, 0, 30);
    spend(owner_, 3, 20);
    spend(copy_, 4, 5);  // not told yet
    tell(4, 5, false);
    EXPECT_EQ(sum(copy_, 4), 55U);
    EXPECT_EQ(sum(copy_, 13), 55U);  // of the total, 20 would still count
    EXPECT_EQ(sum(copy_, 14), 0U);
}

TEST_F(Tallies, OnlyWhatWasSpentMeanwhileIsAdded) {
    spend(owner_, 0, 30);
    tell(0, 0, false);
    spend(copy_, 1, 5);
    owner_.add(slots_, pool_, at(1), {at(1), Units{5}});
    spend(owner_, 5, 7);
    tell(5, 0, false);
    EXPECT_EQ(sum(copy_, 5), 42U);
    EXPECT_EQ(sum(copy_, 10), 12U);  // the first 30 have left in both
    EXPECT_EQ(sum(copy_, 11), 7U);
    tell(11, 0, false);
    EXPECT_EQ(sum(copy_, 11), 7U);
}

TEST_F(Tallies, TheOldestAboveTheSumAreForgotten) {
    spend(owner_, 0, 30);
    spend(owner_, 5, 10);
    tell(5, 0, false);  // all 40 as spent in part 5
    EXPECT_EQ(sum(copy_, 12), 40U);
    tell(12, 0, false);  // 30 of them have left
    EXPECT_EQ(sum(copy_, 12), 10U);
    EXPECT_EQ(sum(copy_, 14), 10U);
    EXPECT_EQ(sum(copy_, 15), 0U);
}

// What has been spent meanwhile is added whole, even if the sum says that nothing is missing.
TEST_F(Tallies, WhatIsForgottenIsNeverTheNewest) {
    spend(owner_, 0, 30);
    tell(4, 0, false);  // all as spent in part 4
    spend(owner_, 11, 5);
    tell(11, 0, false);
    EXPECT_EQ(sum(copy_, 11), 5U);
    EXPECT_EQ(sum(copy_, 15), 5U);
}

TEST_F(Tallies, AnewWithAllThatTheTotalIsMadeOf) {
    for (int part = 0; part < 8; ++part) {
        spend(owner_, part, static_cast<std::uint64_t>(part) + 1);
    }
    spend(copy_, 2, 50);  // as if counted twice
    std::array<SubWindow, 16> earlier;
    const std::size_t count = owner_.earlier(slots_, pool_, at(8), earlier);
    EXPECT_EQ(count, 7U);
    tell(8, 3, true);
    EXPECT_EQ(sum(copy_, 8), 36U + 3U);
    for (std::size_t i = 0; i < count; ++i) {
        copy_.move_back(pool_, earlier[i]);
    }
    for (int part = 8; part < 17; ++part) {
        EXPECT_EQ(sum(copy_, part), sum(owner_, part) + 3) << part;
    }
}

TEST_F(Tallies, FewPlacesAreSeveralSubWindowsEach) {
    for (int part = 0; part < 8; ++part) {
        spend(owner_, part, 1);
    }
    std::array<SubWindow, 3> earlier;
    ASSERT_EQ(owner_.earlier(slots_, pool_, at(8), earlier), 3U);
    EXPECT_EQ(earlier[0].units, 3U);
    EXPECT_EQ(earlier[2].units, 1U);
    tell(8, 0, true);
    for (const SubWindow& place : earlier) {
        copy_.move_back(pool_, place);
    }
    for (int part = 8; part < 18; ++part) {
        EXPECT_GE(sum(copy_, part), sum(owner_, part)) << part;
        EXPECT_LE(sum(copy_, part), part == 8 ? 8U : sum(owner_, part - 2)) << part;
    }
}

// Out of order, or once another sub-window has begun: it stays as it was, which is later.
TEST_F(Tallies, WhatCannotBeMovedBackStays) {
    spend(owner_, 0, 10);
    spend(owner_, 1, 10);
    spend(owner_, 2, 10);
    tell(2, 0, true);
    const std::uint64_t first = slots_.of(at(0));
    copy_.move_back(pool_, {first + 1, 10});
    copy_.move_back(pool_, {first, 10});
    EXPECT_EQ(sum(copy_, 10), 30U);
    EXPECT_EQ(sum(copy_, 11), 20U);
    copy_.move_back(pool_, {first + 9, 10});
    EXPECT_EQ(sum(copy_, 2), 30U);
}

// Of a window that is over only the number is noted, so that what others spend is told apart.
TEST_F(Tallies, WhatIsOverIsNotCounted) {
    owner_.add(slots_, pool_, at(20), {at(3), Units{9}});
    EXPECT_EQ(sum(owner_, 20), 0U);
    EXPECT_EQ(owner_.tally(slots_, pool_, at(20)).ever, 9U);
}

// A count that begins anew is another one, however much the earlier had.
TEST_F(Tallies, AKeyThatWasForgottenIsToldAsAWhole) {
    spend(owner_, 0, 90);
    tell(0, 0, false);
    owner_ = {};
    owner_.begin(at(11));
    spend(owner_, 11, 8);
    tell(11, 0, false);
    EXPECT_EQ(sum(copy_, 11), 8U);
}

}  // namespace
}  // namespace sluice::tally_test
