#include "lib/l7/stream/text_arena.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace sluice::text_arena_test {
namespace {

ByteView keep(TextArena& arena, std::size_t size, int value) {
    std::memset(arena.room().data(), value, size);
    return arena.keep(size);
}

TEST(TextArena, KeepsTextsOneBehindTheOther) {
    TextArena arena;
    arena.begin_packet();
    const ByteView first = keep(arena, 5, 'a');
    const ByteView second = keep(arena, 7, 'b');
    EXPECT_EQ(first.data() + 5, second.data());
    EXPECT_EQ(first[4], std::byte{'a'});
    EXPECT_EQ(second.size(), 7U);
    EXPECT_EQ(arena.room().size(), TextArena::kPerPacket - 12);
}

TEST(TextArena, GivesEachPacketAShareOfItsOwn) {
    TextArena arena;
    for (std::size_t packet = 0; packet < kMaxBurst; ++packet) {
        arena.begin_packet();
        ASSERT_EQ(arena.room().size(), TextArena::kPerPacket);
        const ByteView all = keep(arena, TextArena::kPerPacket, 'x');
        EXPECT_TRUE(arena.room().empty());
        EXPECT_TRUE(arena.keep(1).empty());
        // What a scan may read behind the last one is there too.
        std::array<std::byte, kTextPadding> behind;
        std::memcpy(behind.data(), all.data() + all.size(), behind.size());
    }
}

TEST(TextArena, GivesAllToTheOnlyPacket) {
    TextArena arena;
    arena.begin_only_packet();
    EXPECT_EQ(arena.room().size(), kMaxBurst * TextArena::kPerPacket);
    const ByteView all = keep(arena, kMaxBurst * TextArena::kPerPacket, 'x');
    EXPECT_TRUE(arena.room().empty());
    std::array<std::byte, kTextPadding> behind;
    std::memcpy(behind.data(), all.data() + all.size(), behind.size());
    arena.clear();
    arena.begin_packet();
    EXPECT_EQ(arena.room().size(), TextArena::kPerPacket);
}

TEST(TextArena, IsEmptiedWithTheBurst) {
    TextArena arena;
    arena.begin_packet();
    const std::byte* const at = keep(arena, 100, 'a').data();
    arena.clear();
    EXPECT_TRUE(arena.room().empty());
    arena.begin_packet();
    EXPECT_EQ(arena.room().data(), at);
    EXPECT_EQ(arena.room().size(), TextArena::kPerPacket);
}

}  // namespace
}  // namespace sluice::text_arena_test
