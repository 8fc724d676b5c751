#include "lib/policy/values/units_text.hpp"

#include <gtest/gtest.h>

namespace sluice::units_text_test {
namespace {

using namespace std::chrono_literals;

struct RateRow {
    std::string_view text;
    Per per;
    std::uint64_t units;  // 0: refused
    Nanoseconds period;
};

TEST(ParseRate, ReadsUnitsPerTime) {
    const RateRow rows[] = {
        {"50/s", Per::Packet, 50, 1s},
        {"300/m", Per::Packet, 300, 1min},
        {"10/h", Per::Packet, 10, 1h},
        {"1/d", Per::Packet, 1, 24h},
        {"4K/s", Per::Packet, 4000, 1s},
        {"4k/s", Per::Packet, 4000, 1s},
        {"20kbit/s", Per::Byte, 20'000, 8s},
        {"5kB/s", Per::Byte, 5'000, 1s},
        {"2M/s", Per::Packet, 2'000'000, 1s},
        {"20Mbit/s", Per::Byte, 20'000'000, 8s},  // 8 bits to a byte: exact
        {"1bit/s", Per::Byte, 1, 8s},
        {"5MB/s", Per::Byte, 5'000'000, 1s},
        {"64KiB/m", Per::Byte, 65'536, 1min},
        {"400Gbit/s", Per::Byte, 400'000'000'000, 8s},
        {"50", Per::Packet, 0, 0s},
        {"50/", Per::Packet, 0, 0s},
        {"50/w", Per::Packet, 0, 0s},
        {"050/s", Per::Packet, 0, 0s},
        {"0x10/s", Per::Packet, 0, 0s},
        {"-1/s", Per::Packet, 0, 0s},
        {"1.5/s", Per::Packet, 0, 0s},
        {"5Ki/s", Per::Packet, 0, 0s},
        {"5MB/s", Per::Packet, 0, 0s},
        {"50/s", Per::Byte, 0, 0s},
        {"20mbit/s", Per::Byte, 0, 0s},
        {"99999999999999999999/s", Per::Packet, 0, 0s},
        {"18446744073709551615G/s", Per::Packet, 0, 0s},
    };
    for (const RateRow& row : rows) {
        const Result<Rate> rate = parse_rate(row.text, row.per);
        ASSERT_EQ(rate.has_value(), row.units != 0) << row.text;
        if (rate) {
            EXPECT_EQ(rate->units.count(), row.units) << row.text;
            EXPECT_EQ(rate->period, row.period) << row.text;
        }
    }
}

TEST(ParseRate, SaysWhatItExpected) {
    EXPECT_NE(parse_rate("fast", Per::Packet).error().what.find("50/s"), std::string::npos);
    EXPECT_NE(parse_rate("50/s", Per::Byte).error().what.find("20Mbit/s"), std::string::npos);
}

struct SizeRow {
    std::string_view text;
    std::uint64_t value;
};

TEST(ParseSize, WantsAUnit) {
    const SizeRow rows[] = {{"1500B", 1500},
                            {"64KB", 64'000},
                            {"256KiB", 262'144},
                            {"1GiB", 1073741824},
                            {"1500", 0},
                            {"256Ki", 0},
                            {"", 0},
                            {"B", 0},
                            {"01B", 0}};
    for (const SizeRow& row : rows) {
        const Result<Units> size = parse_size(row.text);
        ASSERT_EQ(size.has_value(), row.value != 0) << row.text;
        EXPECT_TRUE(!size || size->count() == row.value) << row.text;
    }
}

TEST(ParseCount, TakesPlainNumbers) {
    const SizeRow rows[] = {{"200", 200}, {"4K", 4000}, {"1G", 1'000'000'000},
                            {"4Ki", 0},   {"4B", 0},    {"010", 0}};
    for (const SizeRow& row : rows) {
        const Result<Units> count = parse_count(row.text);
        ASSERT_EQ(count.has_value(), row.value != 0) << row.text;
        EXPECT_TRUE(!count || count->count() == row.value) << row.text;
    }
}

struct DurationRow {
    std::string_view text;
    Nanoseconds value;
};

TEST(ParseDuration, ReadsAllUnits) {
    const DurationRow rows[] = {{"500us", 500us}, {"10ms", 10ms}, {"60s", 60s},
                                {"15m", 15min},   {"1h", 1h},     {"1d", 24h}};
    for (const DurationRow& row : rows) {
        ASSERT_TRUE(parse_duration(row.text).has_value()) << row.text;
        EXPECT_EQ(*parse_duration(row.text), row.value);
    }
    for (const std::string_view bad : {"", "60", "1w", "1.5s", "s", "9999999999d"}) {
        EXPECT_FALSE(parse_duration(bad).has_value()) << bad;
    }
}

TEST(ParseUtcOffset, HasASignHoursAndMinutes) {
    using namespace std::chrono_literals;
    EXPECT_EQ(parse_utc_offset("+00:00"), Nanoseconds{0});
    EXPECT_EQ(parse_utc_offset("+05:30"), 5h + 30min);
    EXPECT_EQ(parse_utc_offset("-23:59"), -(23h + 59min));
    for (const std::string_view text :
         {"", "05:30", "+5:30", "+05:60", "+24:00", "+05-30", "+05:3", "+05:300", "+ 5:30"}) {
        EXPECT_EQ(parse_utc_offset(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace sluice::units_text_test
