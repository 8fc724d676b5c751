#include "tests/unit/ledger/workers.hpp"

#include "lib/share/kept_ring.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

// The rings, and the ledger over them, with threads that really run beside each other.
namespace sluice::rings_test {
namespace {

using namespace std::chrono_literals;

TEST(KeptRing, KeepsWhatIsReadUntilItIsRetired) {
    RingMarks writer;
    RingMarks reader;
    KeptRing<int> ring{2, writer, reader, 0};
    for (int i = 0; i < 2; ++i) {
        *ring.next() = i;
        ring.commit();
    }
    EXPECT_EQ(ring.waiting(8), 0U);
    EXPECT_EQ(ring.written(), 2U);
    ring.publish();
    EXPECT_EQ(ring.next(), nullptr);
    EXPECT_EQ(ring.waiting(8), 2U);
    EXPECT_EQ(ring.waiting(1), 1U);
    EXPECT_EQ(ring.peek(1), 1);
    ring.done(1);
    EXPECT_EQ(ring.acknowledged(), 1U);
    EXPECT_EQ(ring.next(), nullptr);
    EXPECT_EQ(ring.kept(0), 0);
    ring.retire(1);
    ASSERT_NE(ring.next(), nullptr);
    *ring.next() = 2;
    ring.commit();
    ring.publish();
    EXPECT_EQ(ring.first_waiting(), 1U);
    EXPECT_EQ(ring.peek(0), 1);
    EXPECT_EQ(ring.peek(1), 2);
}

// Charges by all of them at once, each at its own pace; afterwards the owner knows every unit, and
// nobody was ever admitted more than the promise. Time is one counter that all of them push on.
TEST(LedgerThreads, NothingIsLostBetweenThreads) {
    constexpr std::size_t kWorkers = 3;
    constexpr std::uint64_t kKeys = 5;
    constexpr int kTurns = 20'000;
    // No debt is paid within the test, so that what is owed is what was spent.
    const AnyLimit limit = TokenBucketLimit{*Limit::make({Units{1}, 1h}, Units{4'000})};
    std::vector<SlotRow> rows(kSharedSlot + 1);
    rows[kSharedSlot].limit = &limit;
    rows[kSharedSlot].max_unsynced = 20;
    AmountLanes lanes{kWorkers, 8};
    std::vector<std::vector<Record>> memory(kWorkers, std::vector<Record>(64));
    std::vector<std::array<std::uint64_t, kKeys>> spent(kWorkers);
    std::vector<std::unique_ptr<BucketStore>> stores;
    std::vector<std::unique_ptr<BucketBooks>> books;
    std::vector<std::unique_ptr<Ledger>> ledgers;
    for (std::size_t i = 0; i < kWorkers; ++i) {
        stores.push_back(std::make_unique<BucketStore>(256, 16));
        stores[i]->adopt(rows, 0, Nanoseconds{0}, {});
        books.push_back(std::make_unique<BucketBooks>(*stores[i]));
        ledgers.push_back(std::make_unique<Ledger>(i, lanes, memory[i], Instant{1s}));
    }
    std::atomic<std::int64_t> clock{1'000'000'000};
    const auto work = [&](std::size_t me) {
        Ledger& ledger = *ledgers[me];
        for (int turn = 0; turn < kTurns; ++turn) {
            const Now now{.at = Instant{Nanoseconds{clock.fetch_add(1'000)}}};
            (void)stores[me]->begin_burst(now);
            ledger.exchange(*books[me], now);
            const std::uint64_t key = (static_cast<std::uint64_t>(turn) * (me + 1)) % kKeys;
            const Account account = Workers::account_of(key);
            const Gcra copy = books[me]->copy_of(account, now).bucket;
            const bool own = ledger.owns(account);
            if (!admits(copy, *gcra_of(limit), now.at, Units{1}) ||
                (!own && ledger.credit(account, 1, 20) != Credit::Enough)) {
                continue;
            }
            const std::uint32_t record = own ? kNoRecord : ledger.note(account, 1, now);
            Stand total;
            ASSERT_TRUE(
                books[me]->apply({.account = account, .units = 1, .at = now.at}, now, total));
            ledger.send_if_much(record, 20, books[me]->copy_of(account, now), now);
            ++spent[me][key];
        }
    };
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kWorkers; ++i) {
        threads.emplace_back(work, i);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    Now now{.at = Instant{Nanoseconds{clock.load()}}};
    for (int i = 0; i < 1'000; ++i) {
        now.at += 1ms;
        for (std::size_t worker = 0; worker < kWorkers; ++worker) {
            ledgers[worker]->exchange(*books[worker], now);
        }
    }
    for (std::uint64_t key = 0; key < kKeys; ++key) {
        const Account account = Workers::account_of(key);
        std::uint64_t units = 0;
        for (const auto& of_worker : spent) {
            units += of_worker[key];
        }
        EXPECT_LE(units, 4'000U + 1 + (kWorkers - 1) * 20);
        const std::size_t owner = owner_of(account, kWorkers);
        const Gcra total = books[owner]->copy_of(account, now).bucket;
        const std::uint64_t owed = debt_of(total, *gcra_of(limit), now.at);
        // Less than one unit has been paid back.
        const std::uint64_t period = gcra_of(limit)->period();
        EXPECT_EQ((owed + period - 1) / period, units);
        EXPECT_GT(units, 1'000U);
    }
    for (const auto& ledger : ledgers) {
        EXPECT_EQ(ledger->records().in_use(), 0U);
    }
}

}  // namespace
}  // namespace sluice::rings_test
