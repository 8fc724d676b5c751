#include "lib/bucket/meter/gcra.hpp"
#include "lib/bucket/table/bucket_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

// Entries that another thread ends in a table which its owner goes on using.
namespace sluice::end_beside_owner_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{1h};
constexpr LimitSlot kKept = 1;
constexpr LimitSlot kEnded = 2;
const Limit kLimit = *Limit::make({.units = Units{1}, .period = 1h}, Units{10});
const AnyLimit kNumbers = TokenBucketLimit{kLimit};
constexpr Now kNow{kStart, {}};

TableKey table_key(std::uint64_t n, LimitSlot slot) {
    static const KeyHasher hash{{0x0123'4567'89AB'CDEF, 0xFEDC'BA98'7654'3210}};
    return {hash(7, std::as_bytes(std::span{&n, 1})), slot};
}

struct Core {
    explicit Core(std::size_t keys) : table{keys} {
        rows[kKept] = {.limit = &kNumbers, .in_entry = true};
        rows[kEnded] = {.limit = &kNumbers, .overridden = true, .in_entry = true};
        registry.adopt(rows, 0, kStart);
    }

    // Exhausted. nullptr: there was no place.
    Entry* exhaust(const TableKey& key) {
        table.begin_burst();
        Entry* entry = table.make_place(key, registry, kNow);
        if (entry != nullptr) {
            Gcra bucket{kStart, 0};
            charge(bucket, kLimit, kStart, Units{10});
            entry->file({bucket.fresh_from, bucket.below}, key.slot_and_tag, {});
            entry->release();
            registry.came(slot_of(key));
        }
        return entry;
    }
    [[nodiscard]] std::uint64_t live(LimitSlot slot) const {
        return registry.entries_of(slot).read();
    }

    std::array<SlotRow, 3> rows{};
    LimitRegistry registry{64};
    BucketTable table;
};

TEST(EndBesideOwner, ItsOwnerForgetsIt) {
    Core core{1};  // a line of four
    for (std::uint64_t n = 0; n < 4; ++n) {
        ASSERT_NE(core.exhaust(table_key(n, kEnded)), nullptr);
    }
    EXPECT_EQ(core.exhaust(table_key(9, kKept)), nullptr);
    core.table.end_beside_owner(table_key(7, kEnded));  // nobody
    core.table.end_beside_owner(table_key(2, kEnded));
    for (std::uint64_t n = 0; n < 4; ++n) {
        EXPECT_EQ(core.table.peek(table_key(n, kEnded)).idle(kStart), n == 2) << n;
    }
    EXPECT_NE(core.exhaust(table_key(9, kKept)), nullptr);
    EXPECT_EQ(core.live(kEnded), 3U);
    EXPECT_EQ(core.live(kKept), 1U);
}

// Where the key had numbers of its own, their line is given back.
TEST(EndBesideOwner, ItsLineIsGivenBack) {
    Core core{4};
    const std::size_t free = core.registry.pool().free();
    Entry* entry = core.exhaust(table_key(1, kEnded));
    const AnyLimit own = TokenBucketLimit{*Limit::make({Units{2}, 1h}, Units{30})};
    ASSERT_TRUE(core.registry.bring_under(*entry, {&own, Nanoseconds::max()}, kNow));
    EXPECT_EQ(core.registry.pool().free(), free - 1);
    core.table.end_beside_owner(table_key(1, kEnded));
    EXPECT_TRUE(core.registry.forget_if_idle(*entry, kNow));
    EXPECT_EQ(core.registry.pool().free(), free);
    EXPECT_EQ(core.live(kEnded), 0U);
}

// However the owner moves and reuses places meanwhile, no other key's debt is ended.
TEST(EndBesideOwner, NobodyElseIsEnded) {
    constexpr std::uint64_t kKeys = 200;
    Core core{256};
    for (std::uint64_t n = 0; n < kKeys; ++n) {
        ASSERT_NE(core.exhaust(table_key(n, kKept)), nullptr);
    }
    std::atomic<bool> done{false};
    std::thread other{[&] {
        while (!done.load()) {
            for (std::uint64_t n = 0; n < 100; ++n) {
                core.table.end_beside_owner(table_key(n, kEnded));
            }
        }
    }};
    std::uint64_t placed = 0;
    for (std::uint64_t i = 0; i < 300'000; ++i) {
        placed += core.exhaust(table_key(i % 100, kEnded)) != nullptr ? 1 : 0;
    }
    done.store(true);
    other.join();
    EXPECT_GT(placed, 100U);
    for (std::uint64_t n = 0; n < kKeys; ++n) {
        EXPECT_FALSE(core.table.peek(table_key(n, kKept)).idle(kStart)) << n;
    }
    EXPECT_EQ(core.live(kKept), kKeys);
}

}  // namespace
}  // namespace sluice::end_beside_owner_test
