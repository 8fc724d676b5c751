#include "control/cli/table.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace sluice::table_test {
namespace {

TEST(Table, AlignsColumnsByTheirWidestCell) {
    Table table{{{"RULE"}, {"N", Table::Align::Right}, {"KEY"}}};
    table.row({"a", "1,000", "x"});
    table.row({"longer", "7", ""});
    EXPECT_EQ(table.text(),
              "RULE        N  KEY\n"
              "a       1,000  x\n"
              "longer      7\n");
}

TEST(Table, CountsCharactersNotBytes) {
    Table table{{{"A"}, {"B"}}};
    table.row({"\xC3\xA4\xC3\xB6", "x"});
    table.row({"abc", "y"});
    EXPECT_EQ(table.text(), "A    B\n\xC3\xA4\xC3\xB6   x\nabc  y\n");
}

TEST(Table, WrapsTextsBetweenWordsWhereTheTerminalIsNarrow) {
    Table table{{{"RULE"}, {"WHEN"}, {"N", kRight}}};
    table.row({"a", "ip.proto eq 17 and l4.dport eq 53", "1,000"});
    table.row({"b", "every packet", "7"});
    EXPECT_EQ(table.text_within(30),
              "RULE  WHEN                   N\n"
              "a     ip.proto eq 17     1,000\n"
              "      and l4.dport eq\n"
              "      53\n"
              "b     every packet           7\n");
    EXPECT_EQ(table.text_within(0), table.text_within(200));
}

TEST(Table, GoesOnBelowWhereNoWordCanBeWrapped) {
    Table table{{{"PAIR"}, {"SIDE"}, {"RX PACKETS", kRight}, {"TX PACKETS", kRight}}, 2};
    table.row({"uplink", "outside", "1,234,567", "7"});
    EXPECT_EQ(table.text_within(30),
              "PAIR    SIDE     RX PACKETS\n"
              "uplink  outside   1,234,567\n"
              "\n"
              "PAIR    SIDE     TX PACKETS\n"
              "uplink  outside           7\n");
}

TEST(Table, BreaksNoWordHoweverNarrowTheTerminalIs) {
    Table table{{{"KEY"}, {"N", kRight}}};
    table.row({"2001:db8:0:1:2:3:4:5", "1,000"});
    EXPECT_EQ(table.text_within(8), "KEY                       N\n2001:db8:0:1:2:3:4:5  1,000\n");
}

TEST(Table, FitsEveryWidthThatItsWidestColumnsAllow) {
    Table table{{{"RULE"}, {"MODE"}, {"MATCHED", kRight}, {"ADMITTED", kRight}, {"RECEIVES"}}};
    table.row({"login-by-address", "enforce", "1,234,567", "89", "uplink in q0, uplink out q0"});
    table.row({"x", "monitor", "1", "2", ""});
    for (std::size_t width = 32; width < 90; ++width) {
        std::istringstream lines{table.text_within(width)};
        for (std::string line; std::getline(lines, line);) {
            EXPECT_LE(line.size(), width) << line;
        }
    }
}

TEST(Grouped, SetsACommaEveryThreeDigits) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(1'000), "1,000");
    EXPECT_EQ(grouped(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(MemoryText, NamesTheLargestUnitThatFits) {
    EXPECT_EQ(memory_text(0), "0 B");
    EXPECT_EQ(memory_text(1'023), "1023 B");
    EXPECT_EQ(memory_text(1'536), "1.5 KiB");
    EXPECT_EQ(memory_text(std::uint64_t{3} << 30), "3.0 GiB");
}

}  // namespace
}  // namespace sluice::table_test
