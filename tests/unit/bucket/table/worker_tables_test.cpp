#include "lib/bucket/table/worker_tables.hpp"
#include "lib/bucket/meter/gcra.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sluice::worker_tables_test {
namespace {

using namespace std::chrono_literals;

constexpr LimitSlot kOwn = 1;
constexpr LimitSlot kBefore = 2;
constexpr Now kNow{Instant{1h}, {}};
const Limit kLimit = *Limit::make({.units = Units{1}, .period = 1h}, Units{10});
const AnyLimit kNumbers = TokenBucketLimit{kLimit};
const std::vector<MigratedFrom> kMigratedFrom{{.slot = kBefore, .combine = Combine::Most}};

TableKey table_key(LimitSlot slot) {
    static const KeyHasher hash{{0x0123'4567'89AB'CDEF, 0xFEDC'BA98'7654'3210}};
    return {hash(7, {}), slot};
}

// An exhausted bucket.
void file_entry(BucketStore& store, LimitSlot slot) {
    const TableKey key = table_key(slot);
    Entry* entry = store.keys.make_place(key, store.registry, kNow);
    ASSERT_NE(entry, nullptr);
    Gcra bucket{kNow.at, 0};
    charge(bucket, kLimit, kNow.at, Units{10});
    entry->file({bucket.fresh_from, bucket.below}, key.slot_and_tag, {});
    entry->release();
    store.registry.came(slot);
}

// A worker whose last amount under the former slot reaches its owner at the very moment at which
// this worker's accounts are counted.
class LastAmount final : public UnsyncedUnits {
public:
    explicit LastAmount(BucketStore& owner) : owner_{owner} {}

    [[nodiscard]] Units of(const BucketAt& /*at*/) const noexcept override { return Units{0}; }
    [[nodiscard]] std::uint64_t accounts_of(LimitSlot slot) const noexcept override {
        if (slot == kBefore && !arrived_) {
            arrived_ = true;
            file_entry(owner_, slot);
        }
        return 0;
    }

private:
    BucketStore& owner_;
    mutable bool arrived_ = false;
};

struct WorkerTablesTest : testing::Test {
    WorkerTablesTest() {
        rows[kOwn] = {.limit = &kNumbers, .migrated_from = &kMigratedFrom, .in_entry = true};
        rows[kBefore] = {.limit = &kNumbers, .in_entry = true};
        for (BucketStore* store : {&owner, &sender}) {
            store->adopt(rows, 0, Nanoseconds{0}, kNow);
            (void)store->begin_burst(kNow);
        }
        sender.set_unsynced(&last_amount);
    }

    std::array<SlotRow, 3> rows{};
    BucketStore owner{64, 64};
    BucketStore sender{64, 64};
    LastAmount last_amount{owner};
    WorkerTables tables{{&owner, &sender}};
};

TEST_F(WorkerTablesTest, ASlotWithNeitherEntriesNorAmountsIsUnused) {
    EXPECT_EQ(tables.uses_of(kOwn), 0U);
    file_entry(sender, kOwn);
    EXPECT_EQ(tables.uses_of(kOwn), 1U);
}

TEST_F(WorkerTablesTest, ASlotIsUsedWhileItsLastAmountBecomesAnEntry) {
    EXPECT_EQ(tables.uses_of(kBefore), 1U);
}

TEST_F(WorkerTablesTest, WhatIsOwedBeforeIsFoundWhileItsLastAmountBecomesAnEntry) {
    const Owed owed = tables.owed_before({table_key(kOwn)}, owner.registry, kNow);
    EXPECT_TRUE(owed.found);
    EXPECT_EQ(owed.used, Units{10});
}

}  // namespace
}  // namespace sluice::worker_tables_test
