#include "lib/policy/zones/time_zones.hpp"

#include "lib/base/local_days.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace sluice::time_zones_test {
namespace {

TEST(TimeZones, ListEveryChangeOfAnOffset) {
    const auto berlin = read_time_zone("Europe/Berlin");
    ASSERT_TRUE(berlin.has_value());
    EXPECT_TRUE(offsets_hold(**berlin));
    EXPECT_EQ((*berlin)->at(0).ahead, 3600);
    EXPECT_EQ((*berlin)->at(1'774'745'999).ahead, 3600);  // 2026-03-29T00:59:59Z
    EXPECT_EQ((*berlin)->at(1'774'745'999).until, 1'774'746'000);
    EXPECT_EQ((*berlin)->at(1'774'746'000).ahead, 7200);
    EXPECT_EQ((*berlin)->at(4'102'444'799).ahead, 3600);  // 2099-12-31T23:59:59Z
    EXPECT_EQ((*berlin)->at(4'102'444'799).until, std::numeric_limits<std::int64_t>::max());
}

TEST(TimeZones, ThatNeverChangeHaveNone) {
    const auto utc = read_time_zone("UTC");
    ASSERT_TRUE(utc.has_value());
    EXPECT_TRUE((*utc)->changes.empty());
    EXPECT_EQ((*utc)->first, 0);
}

// By Python's zoneinfo: the beginning of a day, the number of it, and of the day after.
TEST(TimeZones, HaveTheDaysThatTheirClocksShow) {
    struct Row {
        std::string zone;
        std::int64_t day;
        std::int64_t begins;
        std::int64_t ends;
    };
    const Row rows[] = {
        {"Europe/Berlin", 20'541, 1'774'738'800, 1'774'821'600},        // 23 hours
        {"Europe/Berlin", 20'751, 1'792'879'200, 1'792'969'200},        // 25
        {"Australia/Lord_Howe", 20'548, 1'775'307'600, 1'775'395'800},  // 24 and a half
        {"Pacific/Apia", 15'337, 1'325'152'800, 1'325'239'200},
        {"Pacific/Apia", 15'338, 1'325'239'200, 1'325'239'200},  // 2011-12-30, which was skipped
        {"Pacific/Apia", 15'339, 1'325'239'200, 1'325'325'600},
        {"Asia/Beirut", 20'541, 1'774'735'200, 1'774'818'000},       // begins at 1:00
        {"Asia/Beirut", 20'750, 1'792'789'200, 1'792'879'200},       // 24:00 becomes 23:00
        {"America/Asuncion", 19'631, 1'696'132'800, 1'696'215'600},  // begins at 1:00
        {"America/Asuncion", 19'805, 1'711'162'800, 1'711'252'800},
        {"America/St_Johns", 14'920, 1'289'097'000, 1'289'187'000},  // 0:01 becomes 23:01
        {"Europe/Moscow", 20'834, 1'800'046'800, 1'800'133'200},
        {"Europe/Berlin", 47'414, 4'096'562'400, 4'096'652'400},  // 2099-10-25
    };
    for (const Row& row : rows) {
        const auto zone = read_time_zone(row.zone);
        ASSERT_TRUE(zone.has_value()) << row.zone;
        EXPECT_EQ(begin_of_day(**zone, row.day), row.begins) << row.zone << " " << row.day;
        EXPECT_EQ(begin_of_day(**zone, row.day + 1), row.ends) << row.zone << " " << row.day;
        if (row.begins < row.ends) {
            EXPECT_EQ(day_at(**zone, row.begins), row.day) << row.zone;
            EXPECT_EQ(day_at(**zone, row.ends - 1), row.day) << row.zone;
        }
    }
}

TEST(TimeZones, ErrorsSayWhatIsMeant) {
    EXPECT_EQ(read_time_zone("Europe/Moskow").error().what,
              "there is no time zone `Europe/Moskow`; did you mean `Europe/Moscow`?");
    const std::pair<std::string_view, std::string_view> meant[] = {
        {"Moscow", "did you mean `Europe/Moscow`?"},
        {"new york", "did you mean `America/New_York`?"},
        {"europe/berlin", "did you mean `Europe/Berlin`?"},
        {"west", "did you mean `Australia/West` or `Brazil/West`?"}};
    for (const auto& [typed, zone] : meant) {
        EXPECT_NE(read_time_zone(typed).error().what.find(zone), std::string::npos) << typed;
    }
    // Near to MST and UTC, which are hours away.
    for (const std::string_view typed : {"MSK", "UTC+3", "GMT+03:00", "GMT+3", "gmt+3", "GMT-5"}) {
        const std::string what = read_time_zone(typed).error().what;
        EXPECT_EQ(what.find("did you mean"), std::string::npos) << what;
        EXPECT_NE(what.find("an hour ahead of UTC is Etc/GMT-1"), std::string::npos) << what;
    }
    EXPECT_NE(read_time_zone("Mars").error().what.find("as in the IANA database"),
              std::string::npos);
}

TEST(TimeZones, AreCalledAsInTheDatabaseAndNothingElse) {
    for (const std::string name :
         {"", "posix/Europe/Berlin", "right/Europe/Berlin", "Europe", "Europe/", "Europe/Nowhere",
          "/etc/passwd", "../zoneinfo/UTC", "file:/etc/hostname", "Fixed/UTC+01:00:00", "zone.tab",
          "tzdata.zi", "A//B", "localtime", "posixrules", "Factory", "leapseconds"}) {
        EXPECT_FALSE(read_time_zone(name).has_value()) << name;
    }
    EXPECT_EQ(read_time_zone("leapseconds").error().what.find("did you mean"), std::string::npos);
    EXPECT_EQ(read_time_zone("Localtime").error().what.find("`localtime`"), std::string::npos);
    EXPECT_FALSE(read_time_zone(std::string(1000, 'A')).has_value());
}

}  // namespace
}  // namespace sluice::time_zones_test
