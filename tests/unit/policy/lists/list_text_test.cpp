#include "lib/policy/lists/list_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::list_text_test {
namespace {

using enum ListType;

struct Good {
    std::string_view name;
    ListType type;
    std::string_view text;
    std::size_t entries;
    std::size_t ranges;
};

const Good kGood[] = {
    {"nothing", Cidr, "", 0, 0},
    {"comments and blank lines", Cidr, "# a\n\n   \t\n  # b\n", 0, 0},
    {"both versions", Cidr, "192.0.2.0/24\n2001:db8::/32\n198.51.100.7\n::1\n", 4, 4},
    {"a comment after an entry", Cidr, "192.0.2.0/24 # test\n198.51.100.7#near\n", 2, 2},
    {"lines of Windows", Cidr,
     "\xEF\xBB\xBF"
     "192.0.2.1\r\n\r\n# x\r\n192.0.2.9\r\n",
     2, 2},
    {"no line end", Cidr, "192.0.2.1", 1, 1},
    {"blanks around", Cidr, " \t192.0.2.1 \t\n", 1, 1},
    {"neighbours join", Cidr, "2001:db8::/33\n2001:db8:8000::/33\n", 2, 1},
    {"one inside the other", Cidr, "10.0.0.0/8\n10.1.0.0/16\n10.0.0.0/8\n", 3, 1},
    {"everything", Cidr, "0.0.0.0/0\n::/0\n", 2, 2},
    {"numbers", Number, "53\n80-90\n0x0806\n0-0\n", 4, 4},
    {"numbers that join", Number, "1\n2\n3-9\n10", 4, 1},
    {"the largest", Number, "18446744073709551615\n", 1, 1},
    {"texts", String, "curl/7\nC#-bot\nwith space # not this\n#nothing\nz\nz\n", 5, 4},
};

std::size_t ranges_in(const ListValues& values) {
    return values.v4.size() + values.v6.size() + values.numbers.size() + values.texts.size();
}

TEST(ListText, TakesWhatPeopleWrite) {
    for (const Good& row : kGood) {
        const ListText list = read_list_text(row.text, row.type);
        EXPECT_EQ(list.fault_count, 0U) << row.name;
        EXPECT_EQ(list.values.entries, row.entries) << row.name;
        EXPECT_EQ(ranges_in(list.values), row.ranges) << row.name;
    }
}

TEST(ListText, KeepsTextsAsTheyAre) {
    const ListText list = read_list_text("  b c\t# d\r\nC#-bot\n", String);
    EXPECT_EQ(list.values.texts, (std::vector<std::string>{"C#-bot", "b c"}));
}

struct Bad {
    ListType type;
    std::string_view text;
    std::uint32_t line;
    std::uint32_t column;
    std::string_view says;
};

const Bad kBad[] = {
    {Cidr, "192.0.2.0/24\n\n  10.0.0.1/8\n", 3, 3, "the network is 10.0.0.0/8"},
    {Cidr, "2001:db8::1/32\n", 1, 1, "the network is 2001:db8::/32"},
    {Cidr, "192.0.2.0/33\n", 1, 1, "expected an address or network"},
    {Cidr, "192.0.2\n", 1, 1, "found `192.0.2`"},
    {Cidr, "192.0.2.1 192.0.2.2\n", 1, 1, "found `192.0.2.1 192.0.2.2`"},
    {Cidr, "192.0.2.1,\n", 1, 1, "expected an address"},
    {Cidr, "192.0.2.1/\n", 1, 1, "expected an address"},
    {Cidr,
     "\xEF\xBB\xBF"
     "x\n",
     1, 4, "found `x`"},
    {Cidr, "1.2.3.4\r\nexample.com\r\n", 2, 1, "found `example.com`"},
    {Cidr, "1.2.3.4\rx\n", 1, 1, "expected an address"},
    {Number, "12a\n", 1, 1, "no number and no range"},
    {Number, "9-3\n", 1, 1, "ends before it begins"},
    {Number, "-3\n", 1, 1, "no number and no range"},
    {Number, "3-\n", 1, 1, "no number and no range"},
    {Number, "1 - 2\n", 1, 1, "no number and no range"},
    {Number, "007\n", 1, 1, "no number and no range"},
    {Number, "0x\n", 1, 1, "no hexadecimal number"},
    {Number, "18446744073709551616\n", 1, 1, "no number and no range"},
    {String, "a\n\xFF\xFE\n", 2, 1, "not UTF-8"},
    {String,
     "a\x01"
     "b\n",
     1, 1, "control characters"},
};

TEST(ListText, EveryFaultSaysWhereAndWhat) {
    for (const Bad& row : kBad) {
        const ListText list = read_list_text(row.text, row.type);
        ASSERT_EQ(list.fault_count, 1U) << row.text;
        EXPECT_EQ(list.faults[0].at.line, row.line) << row.text;
        EXPECT_EQ(list.faults[0].at.column, row.column) << row.text;
        EXPECT_NE(list.faults[0].what.find(row.says), std::string::npos) << list.faults[0].what;
    }
}

TEST(ListText, TheFirstFaultsAreShownAndAllAreCounted) {
    std::string text;
    for (int i = 0; i < 1000; ++i) {
        text += i % 2 == 0 ? "bad\n" : "192.0.2.1\n";
    }
    const ListText list = read_list_text(text, Cidr);
    EXPECT_EQ(list.fault_count, 500U);
    ASSERT_EQ(list.faults.size(), ListText::kMaxFaults);
    EXPECT_EQ(list.faults.back().at.line, 39U);
    EXPECT_EQ(list.values.entries, 1000U);
}

TEST(ListText, ATextIsBounded) {
    EXPECT_EQ(read_list_text(std::string(kMaxListText, 'x'), String).fault_count, 0U);
    EXPECT_EQ(read_list_text(std::string(kMaxListText + 1, 'x'), String).fault_count, 1U);
}

}  // namespace
}  // namespace sluice::list_text_test
