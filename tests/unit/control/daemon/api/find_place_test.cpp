#include "control/daemon/api/find_place.hpp"

#include <gtest/gtest.h>

namespace sluice::find_place_test {
namespace {

TEST(FindPlace, IsReadUpToItsKey) {
    const auto key = read_find_place("00ab:dns~k:1:2001:db8::1|a:b");
    ASSERT_TRUE(key);
    EXPECT_EQ(key->generation, "00ab");
    EXPECT_EQ(key->rule, "dns");
    EXPECT_EQ(key->part, 'k');
    EXPECT_EQ(key->rest, "1:2001:db8::1|a:b");
    const auto word = read_find_place("00ab:dns~w:3");
    ASSERT_TRUE(word);
    EXPECT_EQ(word->part, 'w');
    EXPECT_EQ(word->rest, "3");
    EXPECT_TRUE(read_find_place("00ab:dns~b:0:77"));
}

TEST(FindPlace, BeginsWithTheFirstRule) {
    const auto first = read_find_place("");
    ASSERT_TRUE(first);
    EXPECT_EQ(first->rule, "");
    EXPECT_EQ(first->part, 'w');
}

TEST(FindPlace, IsNothingElse) {
    for (const char* text :
         {"junk", "00ab:dns", "00ab:dns:", "00ab:dns~x:1", "00ab:dns~wk:1", "00ab:~k:1", ":"}) {
        EXPECT_FALSE(read_find_place(text)) << text;
    }
}

}  // namespace
}  // namespace sluice::find_place_test
