#include "control/cli/bulk_ban.hpp"

#include <gtest/gtest.h>

namespace sluice::bulk_ban_test {
namespace {

TEST(ReadKeyLines, OneKeyALine) {
    const KeyLines read = read_key_lines("# abuse\n10.0.0.1\r\n\n  10.0.0.2|53 \n10.0.0.3");
    EXPECT_EQ(read.keys, (std::vector<std::string>{"10.0.0.1", "10.0.0.2|53", "10.0.0.3"}));
    EXPECT_EQ(read.lines, (std::vector<std::uint32_t>{2, 4, 5}));
    EXPECT_TRUE(read_key_lines("").keys.empty());
}

}  // namespace
}  // namespace sluice::bulk_ban_test
