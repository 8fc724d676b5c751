#include "dataplane/box/growing_gap.hpp"

#include "lib/watch/events/event_log.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::growing_gap_test {
namespace {

using namespace std::chrono_literals;

constexpr GrowingGap::Time kStart{1h};

// Ticks of the box until `end`; `look` says whether there is something new.
template <typename Look>
void run(GrowingGap& gap, GrowingGap::Time begin, GrowingGap::Time end, Look&& look) {
    for (GrowingGap::Time now = begin; now < end; now += 100ms) {
        if (gap.is_due(now)) {
            gap.note_look(now, look(now));
        }
    }
}

TEST(GrowingGap, DoublesUpToAMinuteAndBeginsAnewBehindAQuietLook) {
    GrowingGap gap;
    std::vector<std::chrono::seconds> told;
    const auto looks = [&](bool goes_on) {
        return [&told, goes_on](GrowingGap::Time now) {
            told.push_back(std::chrono::duration_cast<std::chrono::seconds>(now - kStart));
            return goes_on;
        };
    };
    run(gap, kStart, kStart + 200s, looks(true));
    EXPECT_EQ(told, (std::vector{0s, 2s, 6s, 14s, 30s, 62s, 122s, 182s}));
    told.clear();
    run(gap, kStart + 200s, kStart + 245s, looks(false));
    EXPECT_EQ(told, (std::vector{242s, 243s, 244s}));
    told.clear();
    run(gap, kStart + 245s, kStart + 248s, looks(true));
    EXPECT_EQ(told, (std::vector{245s, 247s}));
}

// A change that forgives keys for three days, with a ban before it.
TEST(GrowingGap, RowsOfOneLongChangePushNoBanOutOfTheLog) {
    EventLog log;
    log.bridged("before", 1, Nanoseconds{0});
    GrowingGap gap;
    std::uint64_t told = 0;
    run(gap, kStart, kStart + 72h, [&](GrowingGap::Time) {
        log.debts_forgiven("", "", 5, Nanoseconds{0});
        ++told;
        return true;
    });
    const EventLog::Slice all = log.read(1, EventLog::kMostEvents);
    EXPECT_EQ(all.missed, 0U);
    ASSERT_EQ(all.events.size(), told + 1);
    EXPECT_EQ(all.events.front().key, "before");
}

}  // namespace
}  // namespace sluice::growing_gap_test
