#include "tests/pktgen/quantity_text.hpp"

#include "tests/pktgen/address_text.hpp"

#include <gtest/gtest.h>

namespace sluice::pktgen::quantity_text_test {
namespace {

TEST(ReadRate, TakesFramesBitsLineAndMax) {
    EXPECT_EQ(*read_rate("1000"), (Rate{Rate::Unit::Packets, 1000}));
    EXPECT_EQ(*read_rate("2.5Mpps"), (Rate{Rate::Unit::Packets, 2.5e6}));
    EXPECT_EQ(*read_rate("14.88M"), (Rate{Rate::Unit::Packets, 14.88e6}));
    EXPECT_EQ(*read_rate("10Gbit"), (Rate{Rate::Unit::Bits, 1e10}));
    EXPECT_EQ(*read_rate("100Mbps"), (Rate{Rate::Unit::Bits, 1e8}));
    EXPECT_EQ(read_rate("line")->unit, Rate::Unit::Line);
    EXPECT_EQ(read_rate("max")->unit, Rate::Unit::Max);
}

TEST(ReadRate, RefusesTheRest) {
    for (const char* text :
         {"", "-1", "+1", "1e9", "0", "0.5", "1X", "2G", "2Tbit", "1M pps", "nan", "inf", "1MM",
          "0x10", " 1", "1 ", "99999999999999999999999999999999999999999"}) {
        EXPECT_FALSE(read_rate(text)) << text;
    }
}

TEST(ReadSize, IsOfEthernetOrImix) {
    EXPECT_EQ(*read_size("64"), 64U);
    EXPECT_EQ(*read_size("1522"), 1522U);
    EXPECT_EQ(*read_size("imix"), kImixSize);
    for (const char* text :
         {"", "63", "1523", "64b", "-64", "IMIX", "0", "9000", "18446744073709551680"}) {
        EXPECT_FALSE(read_size(text)) << text;
    }
}

TEST(ReadSources, ArePowersOfTwoOrNew) {
    EXPECT_EQ(*read_sources("1"), SourceCount{});
    EXPECT_EQ(*read_sources("1024"), (SourceCount{.bits = 10}));
    EXPECT_EQ(*read_sources("2^25"), (SourceCount{.bits = 25}));
    EXPECT_EQ(*read_sources("2^0"), SourceCount{});
    EXPECT_EQ(*read_sources("64k"), (SourceCount{.bits = 16}));
    EXPECT_EQ(*read_sources("32M"), (SourceCount{.bits = 25}));
    EXPECT_TRUE(read_sources("new")->is_new);
    for (const char* text : {"", "0", "3", "1000", "2^26", "2^", "^2", "64M", "33554432k", "2^4k",
                             "-1", "1G", "2^-1", "all"}) {
        EXPECT_FALSE(read_sources(text)) << text;
    }
}

TEST(ReadDuration, HasUnitsAndBounds) {
    EXPECT_DOUBLE_EQ(*read_duration("10"), 10);
    EXPECT_DOUBLE_EQ(*read_duration("500ms"), 0.5);
    EXPECT_DOUBLE_EQ(*read_duration("2m"), 120);
    EXPECT_DOUBLE_EQ(*read_duration("24h"), 86'400);
    for (const char* text : {"", "0", "0s", "25h", "10d", "-1s", "s", "1e3", "0.1ms"}) {
        EXPECT_FALSE(read_duration(text)) << text;
    }
}

TEST(ReadCount, IsWholeAndBounded) {
    EXPECT_EQ(*read_count("1"), 1U);
    EXPECT_EQ(*read_count("1.5k"), 1500U);
    EXPECT_EQ(*read_count("2G"), 2'000'000'000U);
    for (const char* text : {"", "0", "0.5", "1.0001k1", "-3", "1e3", "9999999T", "two"}) {
        EXPECT_FALSE(read_count(text)) << text;
    }
}

TEST(ReadDestination, IsAnAddressOfEitherFamily) {
    EXPECT_EQ(read_destination("192.0.2.1")->v4, 0xC0000201U);
    EXPECT_EQ(read_destination("2001:db8::1")->family, Family::V6);
    EXPECT_EQ(read_destination("2001:db8::1")->v6[1], 1U);
    for (const char* text : {"", "192.0.2", "192.0.2.1/24", "host", "::g"}) {
        EXPECT_FALSE(read_destination(text)) << text;
    }
}

TEST(ReadMac, IsSixPairs) {
    EXPECT_EQ((*read_mac("02:00:00:00:00:fF"))[5], 0xFF);
    for (const char* text : {"", "02:00:00:00:00", "02:00:00:00:00:0", "02-00-00-00-00-01",
                             "0g:00:00:00:00:01", "02:00:00:00:00:01:02", "+2:00:00:00:00:01"}) {
        EXPECT_FALSE(read_mac(text)) << text;
    }
}

}  // namespace
}  // namespace sluice::pktgen::quantity_text_test
