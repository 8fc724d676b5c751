#include "lib/peer/merge/charge_ahead.hpp"

#include "lib/bucket/meter/bucket_in.hpp"
#include "lib/bucket/table/take.hpp"
#include "lib/peer/merge/ledger_store.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

// One worker and the owner of an account: what the worker may charge without a question, and what
// is told of it.
namespace sluice::charge_ahead_test {
namespace {

using namespace std::chrono_literals;

constexpr LimitSlot kSlot = 1;
constexpr std::uint64_t kMaxUnsynced = 20;  // told at 10 units
constexpr Nanoseconds kInterval = 1ms;
constexpr std::size_t kRecords = 64;

// Worker 0 is the owner of them all.
Account account(std::uint64_t number = 0) {
    Account of{.hash = (number + 1) << 32, .slot = kSlot};
    while (owner_of(of, 2) != 0) {
        ++of.hash;
    }
    return of;
}

class Pair {
public:
    explicit Pair(std::uint64_t rate, std::uint64_t burst = 1'000)
        : limit_{TokenBucketLimit{*Limit::make({Units{rate}, 1s}, Units{burst})}},
          rows_(kSlot + 1) {
        rows_[kSlot] = {.limit = &limit_,
                        .in_entry = true,
                        .leases = gcra().parts() == 1,
                        .max_unsynced = kMaxUnsynced};
        for (std::size_t i = 0; i < 2; ++i) {
            stores_.push_back(std::make_unique<BucketStore>(256, 16));
            stores_[i]->adopt(rows_, 0, Nanoseconds{0}, now());
            ledger_store_.push_back(std::make_unique<LedgerStore>(*stores_[i]));
            ledgers_.push_back(std::make_unique<Ledger>(i, lanes_, memory_[i], now_));
        }
        entry_ = stores_[1]->keys.make_place(account().table_key(), stores_[1]->registry, now());
        entry_->file({now_, 0}, account().table_key().slot_and_tag, {});
        entry_->release();
        stores_[1]->registry.came(kSlot);
    }

    bool charge(std::uint64_t units = 1) {
        const Limit& limit = gcra();
        const Due due = due_of(bucket_in(entry_->cell(), limit), limit, now_, Units{units});
        const ChargeAhead ahead{*ledgers_[1], limit, kMaxUnsynced, now_};
        return ahead(
            {account(), Units{units}, due, *entry_},
            [&] { take_fitting(*entry_, limit, now_, Units{units}); },
            [&]() -> BucketState { return {bucket_in(entry_->cell(), limit), 0}; });
    }
    void charge_times(int times) {
        for (int i = 0; i < times; ++i) {
            ASSERT_TRUE(charge());
        }
    }
    // Both talk until nothing is left to be said at this instant.
    void talk() {
        for (int i = 0; i < 20; ++i) {
            for (const std::size_t worker : {1U, 0U}) {
                ledgers_[worker]->exchange(*ledger_store_[worker], now());
            }
        }
    }
    void owner_spends(std::uint32_t units) {
        BucketState total;
        const Delta delta{
            .account = account(), .units = units, .record = 0, .at = now_, .held = {}};
        ASSERT_TRUE(ledger_store_[0]->apply(delta, now(), total));
    }
    void wait(Nanoseconds time) { now_ += time; }

    [[nodiscard]] std::uint64_t unsynced() const {
        return ledgers_[1]->records().unsynced(account());
    }
    [[nodiscard]] std::uint64_t sent() const {
        return ledgers_[1]->counters().read(LedgerEvent::Sent);
    }
    [[nodiscard]] Entry& entry() { return *entry_; }
    [[nodiscard]] BucketStore& store() { return *stores_[1]; }
    [[nodiscard]] Now now() const { return {.at = now_}; }
    [[nodiscard]] const Limit& gcra() const { return *gcra_of(limit_); }
    // By the worker's copy; and units that the owner knows of, less what has come back since.
    [[nodiscard]] std::uint64_t owed() const {
        return debt_of(bucket_in(entry_->cell(), gcra()), gcra(), now_) / gcra().period();
    }
    [[nodiscard]] std::uint64_t owed_at_owner() {
        const BucketState total = ledger_store_[0]->copy_of(account(), now());
        return (debt_of(total.bucket, gcra(), now_) + gcra().period() - 1) / gcra().period();
    }

private:
    AnyLimit limit_;
    std::vector<SlotRow> rows_;
    Links links_{2, {.merge = 64}};
    DeltaLanes lanes_{links_};
    std::vector<Record> memory_[2] = {std::vector<Record>(kRecords), std::vector<Record>(kRecords)};
    std::vector<std::unique_ptr<BucketStore>> stores_;
    std::vector<std::unique_ptr<LedgerStore>> ledger_store_;
    std::vector<std::unique_ptr<Ledger>> ledgers_;
    Entry* entry_ = nullptr;
    Instant now_{1h};
};

TEST(ChargeAhead, WhoIsChargedAgainHasALease) {
    Pair pair{1};
    pair.charge_times(1);
    EXPECT_EQ(pair.entry().lease(), 0U) << "who came once may never come again";
    EXPECT_EQ(pair.unsynced(), 1U);
    pair.charge_times(1);
    // Nine are less than half of 20: seven more than two.
    EXPECT_EQ(pair.entry().lease(), 7U);
    EXPECT_EQ(pair.unsynced(), 9U) << "noted as if they were charged";
    pair.charge_times(7);
    EXPECT_EQ(pair.entry().lease(), 0U);
    EXPECT_EQ(pair.unsynced(), 9U);
    EXPECT_EQ(pair.sent(), 0U);
    pair.charge_times(1);
    EXPECT_EQ(pair.sent(), 1U) << "ten are half";
    pair.talk();
    EXPECT_EQ(pair.owed_at_owner(), 10U);
    EXPECT_EQ(pair.unsynced(), 0U);
}

TEST(ChargeAhead, OnlyWhatWasSpentIsTold) {
    Pair pair{1};
    pair.charge_times(5);
    EXPECT_EQ(pair.entry().lease(), 4U);
    pair.wait(Ledger::kLongestWait);
    pair.talk();
    EXPECT_EQ(pair.sent(), 1U);
    EXPECT_EQ(pair.owed_at_owner(), 5U);
    // Whoever used one has the next at once; and whoever does not use that loses it.
    EXPECT_EQ(pair.entry().lease(), 9U);
    EXPECT_EQ(pair.unsynced(), 9U);
    pair.wait(Ledger::kLongestWait);
    pair.talk();
    EXPECT_EQ(pair.entry().lease(), 0U);
    EXPECT_EQ(pair.unsynced(), 0U);
    EXPECT_EQ(pair.sent(), 1U);
}

// What others have spent comes on top of what was, and the lease goes on.
TEST(ChargeAhead, ATotalLeavesTheLease) {
    Pair pair{1};
    pair.charge_times(10);
    EXPECT_EQ(pair.sent(), 1U);
    pair.charge_times(3);
    EXPECT_EQ(pair.entry().lease(), 6U);
    pair.owner_spends(40);
    pair.talk();
    EXPECT_EQ(pair.entry().lease(), 6U);
    EXPECT_EQ(pair.unsynced(), 9U);
    EXPECT_EQ(pair.owed(), 53U);
    pair.charge_times(6);
    EXPECT_EQ(pair.owed(), 59U);
    EXPECT_EQ(pair.unsynced(), 9U);
}

TEST(ChargeAhead, WhatDoesNotFitTheLeaseIsAsked) {
    Pair pair{1};
    pair.charge_times(4);
    EXPECT_EQ(pair.entry().lease(), 5U);
    EXPECT_TRUE(pair.charge(6));
    EXPECT_EQ(pair.sent(), 1U);
    pair.talk();
    EXPECT_EQ(pair.owed_at_owner(), 10U);
    EXPECT_EQ(pair.unsynced(), 0U);
    EXPECT_TRUE(pair.charge(20));
    EXPECT_FALSE(pair.charge(1)) << "all of U is on its way";
}

// Below half of its burst every charge is told after a merge interval.
TEST(ChargeAhead, WhoIsNearItsLimitHasNone) {
    Pair pair{1, 100};
    for (int i = 0; i < 50; ++i) {
        pair.charge_times(1);
        pair.talk();
    }
    pair.charge_times(3);
    EXPECT_EQ(pair.entry().lease(), 0U);
    pair.wait(2 * kInterval);
    pair.talk();
    EXPECT_EQ(pair.unsynced(), 0U);
    EXPECT_EQ(pair.owed_at_owner(), 53U);
}

TEST(ChargeAhead, APeriodOfNoWholeNsHasNoRoomForOne) {
    Pair pair{3};
    ASSERT_EQ(pair.gcra().parts(), 3U);
    pair.charge_times(5);
    EXPECT_EQ(pair.unsynced(), 5U);
}

// It would not be known what of it has been spent.
TEST(ChargeAhead, ALeasedBucketIsNotForgotten) {
    Pair pair{1'000'000};
    pair.charge_times(2);
    ASSERT_GT(pair.entry().lease(), 0U);
    pair.wait(1s);
    ASSERT_TRUE(pair.entry().idle(pair.now().at));
    EXPECT_FALSE(pair.store().registry.forget_if_idle(pair.entry(), pair.now()));
    pair.wait(Ledger::kLongestWait);
    pair.talk();  // what was spent
    pair.wait(Ledger::kLongestWait);
    pair.talk();  // and that nothing was since
    EXPECT_TRUE(pair.store().registry.forget_if_idle(pair.entry(), pair.now()));
}

// Buckets that would be forgotten before their leases end keep only so many places.
TEST(ChargeAhead, FewShortDebtsHaveLeases) {
    constexpr std::size_t kKeys = kRecords / 2;
    std::vector<Record> memory(kRecords);
    Links links{2, {.merge = 64}};
    DeltaLanes lanes{links};
    Ledger ledger{1, lanes, memory, Instant{1h}};
    const auto lent_to = [&](Instant fresh_from, Instant now) {
        std::size_t lent = 0;
        for (std::uint64_t i = 0; i < kKeys; ++i) {
            const Account of = account(i);
            const Ledger::Ahead ahead = ledger.go_ahead(of, 1, kMaxUnsynced, now, Due::Late);
            const std::uint32_t units = ledger.lend(ahead.record, {kMaxUnsynced, fresh_from}, now);
            ledger.give_back(of, units);
            lent += units != 0 ? 1 : 0;
        }
        return lent;
    };
    const Instant now{1h};
    EXPECT_EQ(lent_to(now + 1s, now), kRecords / 4);
    EXPECT_EQ(lent_to(now + 1s, now + 1s), 0U);
    EXPECT_EQ(lent_to(now + 1s + Ledger::kLongestWait, now + 1s), kKeys);
    EXPECT_EQ(lent_to(now + 5s, now + Ledger::kLongestWait), kRecords / 4);
}

// Where records are few, none lies there for what may never be charged.
TEST(ChargeAhead, WhereRecordsAreFewNobodyHasOne) {
    std::vector<Record> memory(4);
    Links links{2, {.merge = 64}};
    DeltaLanes lanes{links};
    const Instant now{1h};
    Ledger ledger{1, lanes, memory, now};
    std::size_t lent = 0;
    for (std::uint64_t i = 0; i < 4; ++i) {
        const Account of = account(i);
        const Ledger::Ahead ahead = ledger.go_ahead(of, 1, kMaxUnsynced, now, Due::Late);
        ASSERT_NE(ahead.record, kNoRecord);
        lent += ledger.lend(ahead.record, {kMaxUnsynced, now + 1h}, now) != 0 ? 1 : 0;
    }
    EXPECT_EQ(lent, 3U);
}

// A process that begins again counts all of a lease as spent.
TEST(ChargeAhead, ALeaseEndsWithItsProcess) {
    const StoreLayout layout{256, 16};
    std::vector<std::byte> memory(layout.bytes() + 4096);
    auto* at = memory.data();
    std::size_t space = memory.size();
    void* aligned = at;
    ASSERT_NE(std::align(4096, layout.bytes(), aligned, space), nullptr);
    const AnyLimit limit = TokenBucketLimit{*Limit::make({Units{1}, 1s}, Units{100})};
    std::vector<SlotRow> rows(kSlot + 1);
    rows[kSlot] = {.limit = &limit, .in_entry = true, .leases = true, .max_unsynced = 8};
    const Now now{.at = Instant{1h}};
    {
        BucketStore store{StoreMemory{aligned, layout, 4096}};
        store.adopt(rows, 0, Nanoseconds{0}, now);
        Entry* entry = store.keys.make_place(account().table_key(), store.registry, now);
        entry->file({now.at + 5s, 0}, account().table_key().slot_and_tag, {});
        entry->set_lease(3);
    }
    BucketStore store{StoreMemory{aligned, layout, 4096}};
    EXPECT_EQ(store.recover(rows, now).live, 1U);
    const Entry* entry = store.keys.find(account().table_key());
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->lease(), 0U);
    EXPECT_EQ(entry->fresh_from(), now.at + 5s);
}

}  // namespace
}  // namespace sluice::charge_ahead_test
