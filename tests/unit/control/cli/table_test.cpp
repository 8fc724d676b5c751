#include "control/cli/table.hpp"

#include <gtest/gtest.h>

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
