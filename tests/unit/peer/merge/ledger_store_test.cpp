#include "lib/peer/merge/ledger_store.hpp"
#include "lib/bucket/meter/gcra.hpp"
#include "lib/bucket/table/previous_tables.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

namespace sluice::ledger_store_test {
namespace {

using namespace std::chrono_literals;

constexpr LimitSlot kSlot = 1;
constexpr Now kNow{Instant{1h}, {}};
const Limit kLimit = *Limit::make({.units = Units{1}, .period = 1h}, Units{10});
const AnyLimit kNumbers = TokenBucketLimit{kLimit};
const Account kAccount{.hash = 0x9E37'79B9'7F4A'7C15, .slot = kSlot, .aggregation_level = 0};

// A table that an earlier process of another shape left, in which the key owes 7 units.
std::vector<PreviousTables::Store> left_by_earlier(std::span<const SlotRow> rows) {
    std::vector<PreviousTables::Store> stores;
    stores.push_back({.buckets = BucketStore{64, 64}});
    BucketStore& store = stores.back().buckets;
    store.adopt(rows, 0, Nanoseconds{0}, kNow);
    Entry* entry = store.keys.make_place(kAccount.table_key(), store.registry, kNow);
    Gcra bucket{kNow.at, 0};
    charge(bucket, kLimit, kNow.at, Units{7});
    entry->file({bucket.fresh_from, bucket.below}, kAccount.table_key().slot_and_tag, {});
    entry->release();
    store.registry.came(kSlot);
    return stores;
}

// The first that an owner hears of a key may be another worker's amount.
TEST(LedgerStore, AnOwnersBucketTakesOverWhatTheKeyOwesInTablesOfAnEarlierProcess) {
    std::array<SlotRow, 2> rows{};
    rows[kSlot] = {.limit = &kNumbers, .in_entry = true, .max_unsynced = 4};
    PreviousTables previous{left_by_earlier(rows), kNow.at + 10h};
    BucketStore store{64, 64};
    store.adopt(rows, 0, Nanoseconds{0}, kNow);
    store.set_previous_tables(&previous, 0);
    LedgerStore ledger{store};

    BucketState total;
    ASSERT_TRUE(ledger.apply({.account = kAccount, .units = 2}, kNow, total));

    const Entry* entry = store.keys.find(kAccount.table_key());
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(remaining(entry->cell(), kNumbers, store.registry.pool(), kNow), Units{1});
}

}  // namespace
}  // namespace sluice::ledger_store_test
