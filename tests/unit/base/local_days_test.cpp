#include "lib/base/local_days.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace sluice::local_days_test {
namespace {

constexpr std::int64_t kHour = 3600;
constexpr std::int64_t kDay = 24 * kHour;

struct Row {
    std::string_view what;
    ZoneOffsets zone;
    std::vector<std::int64_t> begins;  // of day 100 and those after it
};

// Day 100 begins at UTC 100 * kDay in a zone that is not ahead.
const Row kRows[] = {
    {"UTC", {}, {100 * kDay, 101 * kDay, 102 * kDay}},
    {"half an hour more than three", {.first = 12'600}, {100 * kDay - 12'600, 101 * kDay - 12'600}},
    {"23 hours, from 2:00 to 3:00",
     {.changes = {{100 * kDay + 2 * kHour, 3600}}},
     {100 * kDay, 101 * kDay - kHour, 102 * kDay - kHour}},
    {"25 hours, from 3:00 to 2:00",
     {.first = 3600, .changes = {{100 * kDay + 2 * kHour, 0}}},
     {100 * kDay - kHour, 101 * kDay, 102 * kDay}},
    {"no midnight: from 0:00 to 1:00",
     {.changes = {{101 * kDay, 3600}}},
     {100 * kDay, 101 * kDay, 102 * kDay - kHour}},
    {"two midnights: from 24:00 to 23:00",
     {.first = 3600, .changes = {{101 * kDay - kHour, 0}}},
     {100 * kDay - kHour, 101 * kDay, 102 * kDay}},
    {"two midnights: from 0:01 to 23:01",
     {.first = 3600, .changes = {{101 * kDay - kHour + 60, 0}}},
     {100 * kDay - kHour, 101 * kDay - kHour, 102 * kDay}},
    {"no day 101: a date is skipped",
     {.first = -10 * 3600, .changes = {{101 * kDay + 10 * kHour, 14 * 3600}}},
     {100 * kDay + 10 * kHour, 101 * kDay + 10 * kHour, 101 * kDay + 10 * kHour,
      103 * kDay - 14 * kHour}},
    {"two changes a day",
     {.changes = {{100 * kDay + kHour, 7200}, {100 * kDay + 5 * kHour, 3600}}},
     {100 * kDay, 101 * kDay - kHour}},
};

TEST(LocalDays, BeginOnceAtMidnight) {
    for (const Row& row : kRows) {
        for (std::size_t i = 0; i < row.begins.size(); ++i) {
            const std::int64_t day = 100 + static_cast<std::int64_t>(i);
            EXPECT_EQ(begin_of_day(row.zone, day), row.begins[i]) << row.what << ", day " << day;
        }
    }
}

// The date that a clock has shown most lately at each minute, by going through all of them.
TEST(LocalDays, NeverGoBack) {
    for (const Row& row : kRows) {
        std::int64_t latest = 0;
        for (std::int64_t utc = 98 * kDay; utc < 104 * kDay; utc += 60) {
            latest = std::max(latest, (utc + row.zone.at(utc).ahead) / kDay);
            ASSERT_EQ(day_at(row.zone, utc), latest) << row.what << ", at " << utc;
            ASSERT_LE(begin_of_day(row.zone, latest), utc) << row.what;
            ASSERT_GT(begin_of_day(row.zone, latest + 1), utc) << row.what;
        }
    }
}

TEST(LocalDays, AreCountedBackFrom1970) {
    const ZoneOffsets west{.first = -3600};
    EXPECT_EQ(day_at(west, 0), -1);
    EXPECT_EQ(day_at(west, 3600), 0);
    EXPECT_EQ(begin_of_day(west, -1), 3600 - kDay);
    EXPECT_EQ(day_at(west, 3600 - kDay - 1), -2);
}

}  // namespace
}  // namespace sluice::local_days_test
