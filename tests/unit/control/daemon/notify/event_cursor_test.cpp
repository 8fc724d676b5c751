#include "control/daemon/notify/event_cursor.hpp"

#include <gtest/gtest.h>

namespace sluice::event_cursor_test {
namespace {

Events found(std::uint64_t origin, std::uint64_t next, std::uint64_t missed) {
    return {.origin = origin, .next = next, .missed = missed, .events = {}};
}

TEST(EventCursor, WhatIsMissingCountsBehindWhatWasRead) {
    EventCursor cursor;
    cursor.begin(100);
    EXPECT_EQ(cursor.advance(found(7, 50, 3)), 0U) << "nothing was read before";
    EXPECT_EQ(cursor.request(10).origin, 7U);
    EXPECT_EQ(cursor.request(10).from, 50U);
    EXPECT_EQ(cursor.request(10).most, 10U);
    EXPECT_EQ(cursor.advance(found(7, 90, 4)), 4U);
    EXPECT_EQ(cursor.advance(found(8, 20, 5)), 0U) << "another dataplane";
    EXPECT_EQ(cursor.advance(found(8, 30, 6)), 6U);
}

TEST(EventCursor, WhatWentWhileNobodyAskedIsNotMissing) {
    EventCursor cursor;
    cursor.begin(100);
    EXPECT_EQ(cursor.advance(found(7, 50, 0)), 0U);
    cursor.begin(200);
    EXPECT_EQ(cursor.request(10).from, 0U);
    EXPECT_EQ(cursor.advance(found(7, 9000, 8000)), 0U);
    EXPECT_FALSE(cursor.counts({.utc_ns = 199}));
    EXPECT_TRUE(cursor.counts({.utc_ns = 200}));
}

TEST(EventCursor, KnowsWhatWasReadAlready) {
    EventCursor cursor;
    cursor.begin(100);
    EXPECT_FALSE(cursor.is_behind(0, 0)) << "nothing was";
    (void)cursor.advance(found(7, 50, 0));
    EXPECT_TRUE(cursor.is_behind(7, 49));
    EXPECT_FALSE(cursor.is_behind(7, 50));
    EXPECT_FALSE(cursor.is_behind(8, 49)) << "another dataplane's";
}

}  // namespace
}  // namespace sluice::event_cursor_test
