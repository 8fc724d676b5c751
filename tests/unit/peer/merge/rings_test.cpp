#include "tests/unit/peer/merge/workers.hpp"

#include "lib/share/kept_ring.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <random>
#include <thread>

// The rings, and the ledger over them, with threads that really run beside each other.
namespace sluice::rings_test {
namespace {

using namespace std::chrono_literals;

TEST(KeptRing, KeepsWhatIsReadUntilItIsRetired) {
    RingMarks writer;
    RingMarks reader;
    std::array<RingLine, 2> lines;
    KeptRing<int> ring{{lines, writer, reader}};
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

// Another core reads what a worker has not synced while that worker's records come and go, in
// places that the read ones share: it finds every unit that is there all the time, and no other.
TEST(RecordPool, AnotherCoreReadsEveryUnitThatStays) {
    constexpr std::uint64_t kStaying = 6;
    constexpr std::uint64_t kComing = 60;
    constexpr std::uint32_t kUnits = 7;
    constexpr LimitSlot kSlot = 3;
    const auto account = [](std::uint64_t n) {
        return Account{.hash = n * 0x9E37'79B9'7F4A'7C15, .slot = kSlot};
    };
    std::vector<Record> memory(kStaying + 3);
    RecordPool pool{memory, 2, Instant{1s}};
    // The last that come first are at the head of some chains, and leave.
    for (std::uint64_t n = kStaying + 3; n-- > 0;) {
        ASSERT_NE(pool.add(account(n), kUnits, Instant{1s}), kNoRecord);
    }
    for (std::uint64_t n = kStaying; n < kStaying + 3; ++n) {
        pool.drop_unsent(pool.index_of(account(n)));
    }
    std::atomic<bool> done{false};
    std::uint64_t wrong = 0;
    std::uint64_t given_up = 0;
    std::uint64_t right = 0;
    std::thread reader{[&] {
        while (!done.load()) {
            for (std::uint64_t n = 0; n < kStaying; ++n) {
                const Units units = pool.of({account(n).table_key()});
                right += units == Units{kUnits} ? 1 : 0;
                given_up += units == Units{UINT32_MAX} ? 1 : 0;
                wrong += units == Units{kUnits} || units == Units{UINT32_MAX} ? 0 : 1;
            }
        }
    }};
    std::mt19937_64 random{11};
    for (int i = 0; i < test::rounds(2'000'000); ++i) {
        const Account coming = account(kStaying + random() % kComing);
        const std::uint32_t index = pool.index_of(coming);
        if (index == kNoRecord) {
            (void)pool.add(coming, 3, Instant{1s}, random() % 2 == 0 ? Due::Late : Due::Soon);
        } else {
            pool.drop_unsent(index);
        }
    }
    done.store(true);
    reader.join();
    EXPECT_EQ(wrong, 0U);
    EXPECT_EQ(pool.reads_given_up(), given_up);
    // Nothing changes any more.
    for (std::uint64_t n = 0; n < kStaying; ++n) {
        EXPECT_EQ(pool.of({account(n).table_key()}), Units{kUnits});
    }
    EXPECT_GT(right, 0U);
}

constexpr std::size_t kWorkers = 3;
constexpr std::uint64_t kKeys = 5;
constexpr std::uint64_t kMaxUnsynced = 20;
constexpr std::uint64_t kMost = 4'000;  // burst or count
// From the last amount that is told until nobody keeps it, generously.
constexpr Nanoseconds kHeardAfter = 100ms;

// Workers that charge at once, each at its own pace. Time is one counter that all of them push on.
class Threads {
public:
    explicit Threads(const AnyLimit& limit) : limit_{limit}, rows_(kSharedSlot + 1) {
        rows_[kSharedSlot].limit = &limit_;
        rows_[kSharedSlot].max_unsynced = kMaxUnsynced;
        for (std::size_t i = 0; i < kWorkers; ++i) {
            stores_.push_back(std::make_unique<BucketStore>(256, 256));
            stores_[i]->adopt(rows_, 0, Nanoseconds{0}, {});
            ledger_store_.push_back(std::make_unique<LedgerStore>(*stores_[i]));
            ledgers_.push_back(std::make_unique<Ledger>(i, lanes_, memory_[i], Instant{1s}));
        }
    }

    // `judge` says of a copy whether one more unit is admitted, and notes it.
    template <typename Judge>
    Now run(int turns, Judge&& judge) {
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < kWorkers; ++i) {
            threads.emplace_back([this, i, turns, &judge] { work(i, turns, judge); });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        Now now{.at = Instant{Nanoseconds{clock_.load()}}};
        const Instant all_told = now.at + Ledger::kLongestWait + kHeardAfter;
        while (now.at < all_told) {
            now.at += 1ms;
            for (std::size_t worker = 0; worker < kWorkers; ++worker) {
                ledgers_[worker]->exchange(*ledger_store_[worker], now);
            }
        }
        for (const auto& ledger : ledgers_) {
            EXPECT_EQ(ledger->records().in_use(), 0U);
        }
        return now;
    }
    [[nodiscard]] BucketState total_of(std::uint64_t key, Now now) {
        const Account account = Workers::account_of(key);
        return ledger_store_[owner_of(account, kWorkers)]->copy_of(account, now);
    }

private:
    template <typename Judge>
    void work(std::size_t me, int turns, Judge& judge) {
        for (int turn = 0; turn < turns; ++turn) {
            const Now now{.at = Instant{Nanoseconds{clock_.fetch_add(1'000)}}};
            (void)stores_[me]->begin_burst(now);
            ledgers_[me]->exchange(*ledger_store_[me], now);
            if (me != 0) {
                ledgers_[me]->ask(*ledger_store_[me]);  // as the dataplane's workers do
            }
            charge(me, (static_cast<std::uint64_t>(turn) * (me + 1)) % kKeys, now, judge);
        }
    }
    template <typename Judge>
    void charge(std::size_t me, std::uint64_t key, Now now, Judge& judge) {
        Ledger& ledger = *ledgers_[me];
        Account account = Workers::account_of(key);
        const BucketState copy = ledger_store_[me]->copy_of(account, now);
        account.turn = copy.lasts == 0 ? Turn{0} : turn_of(copy.counts.epoch);
        const bool own = ledger.owns(account);
        if (me == 1 && !own && copy.lasts == 0) {
            charge_quickly(account, key, now, judge);
            return;
        }
        if ((!own && ledger.credit(account, 1, kMaxUnsynced) != Credit::Enough) ||
            !judge(me, key, copy, now)) {
            return;
        }
        const Due due = now.at.time_since_epoch().count() / 1'000 % 2 == 0 ? Due::Late : Due::Soon;
        const std::uint32_t record = own ? kNoRecord : ledger.note(account, 1, now, due);
        Delta delta{.account = account, .units = 1, .at = now.at, .held = copy};
        if (copy.lasts != 0) {
            delta.epoch = copy.counts.epoch;
        }
        BucketState total;
        ASSERT_TRUE(ledger_store_[me]->apply(delta, now, total));
        ledger.send_if_much(record, kMaxUnsynced, ledger_store_[me]->copy_of(account, now), now);
    }
    // The way that most packets go.
    template <typename Judge>
    void charge_quickly(const Account& account, std::uint64_t key, Now now, Judge& judge) {
        Ledger& ledger = *ledgers_[1];
        const BucketState copy = ledger_store_[1]->copy_of(account, now);
        if (!admits(copy.bucket, *gcra_of(limit_), now.at, Units{1})) {
            return;
        }
        const Due due = due_of(copy.bucket, *gcra_of(limit_), now.at, Units{1});
        const Ledger::Ahead ahead = ledger.go_ahead(account, 1, kMaxUnsynced, now.at, due);
        if (ahead.record == kNoRecord) {
            return;
        }
        ASSERT_TRUE(judge(1, key, copy, now));
        BucketState total;
        ASSERT_TRUE(ledger_store_[1]->apply(
            {.account = account, .units = 1, .at = now.at, .held = copy}, now, total));
        ledger.tell(ahead, account, total, now.at);
    }

    AnyLimit limit_;
    std::vector<SlotRow> rows_;
    Links links_{kWorkers, {.merge = 8}};
    DeltaLanes lanes_{links_};
    std::vector<std::vector<Record>> memory_{kWorkers, std::vector<Record>(64)};
    std::vector<std::unique_ptr<BucketStore>> stores_;
    std::vector<std::unique_ptr<LedgerStore>> ledger_store_;
    std::vector<std::unique_ptr<Ledger>> ledgers_;
    std::atomic<std::int64_t> clock_{1'000'000'000};
};

// Afterwards the owner knows every unit, and nobody was ever admitted more than the promise.
TEST(LedgerThreads, NothingIsLostBetweenThreads) {
    // No debt is paid within the test, so that what is owed is what was spent.
    const Limit limit = *Limit::make({Units{1}, 1h}, Units{kMost});
    std::array<std::array<std::uint64_t, kKeys>, kWorkers> spent{};
    Threads threads{TokenBucketLimit{limit}};
    const Now now = threads.run(
        20'000, [&](std::size_t me, std::uint64_t key, const BucketState& copy, Now at) {
            const bool fits = admits(copy.bucket, limit, at.at, Units{1});
            spent[me][key] += fits ? 1 : 0;
            return fits;
        });
    for (std::uint64_t key = 0; key < kKeys; ++key) {
        std::uint64_t units = 0;
        for (const auto& of_worker : spent) {
            units += of_worker[key];
        }
        EXPECT_LE(units, kMost + 1 + (kWorkers - 1) * kMaxUnsynced);
        const std::uint64_t owed = debt_of(threads.total_of(key, now).bucket, limit, now.at);
        // Less than one unit has been paid back.
        EXPECT_EQ((owed + limit.period() - 1) / limit.period(), units);
        EXPECT_GT(units, 1'000U);
    }
}

// Windows turn while they charge; the last one is still there afterwards.
TEST(LedgerThreads, WindowsTurnBetweenThreads) {
    constexpr Nanoseconds kWindow = 20s;
    constexpr int kTurns = 20'000;
    // It begins 20 ms before the end of a window, and ends within the next.
    const AnyLimit limit = *make_fixed_window(*make_window_numbers(Units{kMost}, kWindow),
                                              WindowPhase::Clock, kWindow - 1'020ms);
    std::array<std::array<std::array<std::uint64_t, 2>, kKeys>, kWorkers> spent{};
    Threads threads{limit};
    const Now now =
        threads.run(kTurns, [&](std::size_t me, std::uint64_t key, const BucketState& copy, Now) {
            const bool fits = copy.counts.current < kMost;
            spent[me][key][static_cast<std::size_t>(copy.counts.epoch)] += fits ? 1 : 0;
            return fits;
        });
    for (std::uint64_t key = 0; key < kKeys; ++key) {
        std::array<std::uint64_t, 2> units{};
        for (const auto& of_worker : spent) {
            units[0] += of_worker[key][0];
            units[1] += of_worker[key][1];
        }
        EXPECT_LE(units[0], kMost + (kWorkers - 1) * kMaxUnsynced);
        EXPECT_LE(units[1], kMost + (kWorkers - 1) * kMaxUnsynced);
        EXPECT_EQ(threads.total_of(key, now).counts.epoch, 1);
        EXPECT_EQ(threads.total_of(key, now).counts.current, units[1]);
        EXPECT_GT(units[0] + units[1], 1'000U);  // in which of them, the threads' pace decides
    }
}

}  // namespace
}  // namespace sluice::rings_test
