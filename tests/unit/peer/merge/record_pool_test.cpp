#include "lib/peer/merge/record_pool.hpp"

#include "lib/peer/merge/damaged_records.hpp"
#include "lib/peer/merge/exchange.hpp"
#include "lib/peer/merge/ledger_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace sluice::record_pool_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{1s};

Account account(std::uint64_t number) {
    return {.hash = number * 0x9E37'79B9'7F4A'7C15,
            .slot = static_cast<LimitSlot>(1 + number % 3),
            .aggregation_level = static_cast<std::uint8_t>(number % 2)};
}

constexpr std::size_t kSoon = 0;  // the list

// Of owner 0, where there is but one.
std::uint32_t oldest_late(const RecordPool& pool) {
    for (std::size_t list = kSoon + 1; list < RecordPool::kLists; ++list) {
        if (pool.oldest(0, list) != kNoRecord) {
            return pool.oldest(0, list);
        }
    }
    return kNoRecord;
}

// Every bit of an amount that a process has left: more than a full bucket is never told of.
TEST(RecordPool, AnAmountThatCannotBeIsAFullDebt) {
    const AnyLimit limit = TokenBucketLimit{*Limit::make({Units{10}, 1s}, Units{100})};
    std::vector<SlotRow> rows(4);
    rows[1] = {.limit = &limit, .max_unsynced = 8};
    for (unsigned bit = 0; bit < 64; ++bit) {
        std::vector<Record> memory(1);
        memory[0].set(account(3));
        memory[0].set(5, 2);
        EXPECT_EQ(cut_damaged_records(memory, rows), 0U);
        memory[0].deltas ^= std::uint64_t{1} << bit;
        const bool can_be = memory[0].unsynced() <= 100;
        EXPECT_EQ(cut_damaged_records(memory, rows), can_be ? 0U : 1U) << bit;
        EXPECT_LE(memory[0].unsynced(), 100U) << bit;
    }
}

TEST(RecordPool, KeepsWhatIsUnsyncedUntilItIsContained) {
    std::vector<Record> memory(4);
    RecordPool pool{memory, 2, kStart};
    const std::uint32_t record = pool.add(account(1), 5, kStart);
    EXPECT_EQ(pool.add(account(1), 2, kStart), record);
    EXPECT_EQ(pool.at(record).unsent(), 7U);
    pool.note_sent(record);
    EXPECT_EQ(pool.add(account(1), 1, kStart), record);
    EXPECT_EQ(pool.at(record).unsent(), 1U);
    EXPECT_EQ(pool.at(record).sent(), 7U);
    pool.note_returned(record, 3, kStart);
    EXPECT_EQ(pool.at(record).unsent(), 4U);
    pool.note_contained(record, 4);
    EXPECT_EQ(pool.at(record).unsynced(), 4U);
    pool.note_sent(record);
    EXPECT_EQ(pool.in_use(), 1U);
    pool.note_contained(record, 4);
    EXPECT_EQ(pool.in_use(), 0U);
    EXPECT_EQ(pool.find(account(1)), nullptr);
}

TEST(RecordPool, IsBounded) {
    std::vector<Record> memory(2);
    RecordPool pool{memory, 2, kStart};
    EXPECT_NE(pool.add(account(1), 1, kStart), kNoRecord);
    EXPECT_NE(pool.add(account(2), 1, kStart), kNoRecord);
    EXPECT_EQ(pool.free(), 0U);
    EXPECT_EQ(pool.add(account(3), 1, kStart), kNoRecord);
    EXPECT_NE(pool.add(account(2), 1, kStart), kNoRecord);
}

TEST(RecordPool, ListsTheOldestFirst) {
    std::vector<Record> memory(8);
    RecordPool pool{memory, 1, kStart};
    std::vector<std::uint32_t> records;
    for (std::uint64_t i = 0; i < 4; ++i) {
        records.push_back(pool.add(account(i), 1, kStart + i * 1ms));
    }
    (void)pool.add(account(0), 1, kStart + 9ms);
    EXPECT_EQ(pool.oldest(0, kSoon), records[0]);
    EXPECT_NEAR(static_cast<double>(pool.age(records[0], kStart + 10ms).count()), 10e6, 1024.0);
    pool.note_sent(records[1]);
    EXPECT_EQ(pool.next_oldest(records[0]), records[2]);
    pool.note_sent(records[0]);
    EXPECT_EQ(pool.oldest(0, kSoon), records[2]);
    (void)pool.add(account(0), 1, kStart + 11ms);
    EXPECT_EQ(pool.next_oldest(records[3]), records[0]);
    EXPECT_EQ(pool.next_oldest(records[0]), kNoRecord);
    pool.drop_unsent(records[2]);
    EXPECT_EQ(pool.oldest(0, kSoon), records[3]);
}

// What is unsent is due as early as the earliest of it.
TEST(RecordPool, WhatIsDueLateIsDueSoonOnceSoonIsAdded) {
    std::vector<Record> memory(8);
    RecordPool pool{memory, 1, kStart};
    const std::uint32_t late = pool.add(account(1), 1, kStart, Due::Late);
    const std::uint32_t soon = pool.add(account(2), 1, kStart, Due::Soon);
    EXPECT_EQ(oldest_late(pool), late);
    EXPECT_EQ(pool.oldest(0, kSoon), soon);
    (void)pool.add(account(1), 1, kStart + 3ms, Due::Late);
    EXPECT_GT(pool.age(late, kStart + 5ms), 4ms) << "its age is that of its oldest unit";
    (void)pool.add(account(1), 1, kStart + 5ms, Due::Soon);
    EXPECT_EQ(oldest_late(pool), kNoRecord);
    EXPECT_EQ(pool.next_oldest(soon), late);
    EXPECT_LT(pool.age(late, kStart + 6ms), 2ms) << "a merge interval is left from now on";
    (void)pool.add(account(1), 1, kStart + 7ms, Due::Late);
    EXPECT_EQ(pool.at(late).due(), Due::Soon);
    EXPECT_EQ(pool.at(late).unsent(), 4U);
    pool.note_sent(late);
    (void)pool.add(account(1), 1, kStart + 8ms, Due::Late);
    EXPECT_EQ(oldest_late(pool), late);
    pool.note_returned(late, 2, kStart + 9ms);
    EXPECT_EQ(oldest_late(pool), late);
    pool.note_sent(late);
    pool.note_returned(late, 1, kStart + 9ms);
    EXPECT_EQ(pool.at(late).due(), Due::Soon) << "what comes back is sent again soon";
}

TEST(RecordPool, WhatWasNotChargedAfterAllIsTakenBack) {
    std::vector<Record> memory(2);
    RecordPool pool{memory, 1, kStart};
    const std::uint32_t record = pool.add(account(1), 5, kStart, Due::Late);
    pool.take_back(record, 3);
    EXPECT_EQ(pool.unsynced(account(1)), 2U);
    EXPECT_EQ(oldest_late(pool), record);
    pool.take_back(record, 2);
    EXPECT_EQ(oldest_late(pool), kNoRecord);
    EXPECT_EQ(pool.in_use(), 0U);
    // What is on its way stays.
    (void)pool.add(account(1), 4, kStart);
    pool.note_sent(pool.add(account(1), 1, kStart));
    const std::uint32_t again = pool.add(account(1), 2, kStart);
    pool.take_back(again, 2);
    EXPECT_EQ(pool.unsynced(account(1)), 5U);
    EXPECT_EQ(pool.in_use(), 1U);
}

// Which record comes after which is known without reading them, almost always, also after many have
// left and others have come in their places.
TEST(RecordPool, AsksForWhatComesAfterTheOldest) {
    std::vector<Record> memory(4096);
    RecordPool pool{memory, 1, kStart};
    std::vector<std::uint64_t> asked;
    const auto come = [&](const Account& of) { asked.push_back(of.hash); };
    std::size_t right = 0;
    for (std::uint64_t round = 0; round < 3; ++round) {
        for (std::uint64_t i = 0; i < 1000; ++i) {
            (void)pool.add(account(i), 1, kStart);
        }
        for (std::uint64_t i = 0; i < 1000; ++i) {
            const std::uint32_t oldest = pool.oldest(0, kSoon);
            ASSERT_EQ(pool.at(oldest).account(), account(i));
            asked.clear();
            pool.ask_behind_oldest(0, kSoon, come);
            right += !asked.empty() && asked.front() == account(i + 1).hash ? 1 : 0;
            pool.drop_unsent(oldest);
        }
    }
    EXPECT_GT(right, 2'900U);
}

// What is left of a window that has ended is due soon, so that the next one has all of U.
TEST(RecordPool, AnEarlierWindowIsDueSoon) {
    std::vector<Record> memory(8);
    RecordPool pool{memory, 1, kStart};
    const std::uint32_t first = pool.add(account(1).in(3), 5, kStart, Due::Late);
    const std::uint32_t other = pool.add(account(2).in(3), 5, kStart, Due::Late);
    const std::uint32_t second = pool.add(account(1).in(4), 1, kStart + 1ms, Due::Late);
    EXPECT_EQ(pool.at(first).due(), Due::Soon);
    EXPECT_EQ(pool.oldest(0, kSoon), first);
    EXPECT_EQ(pool.at(other).due(), Due::Late);
    EXPECT_EQ(pool.at(second).due(), Due::Late);
    EXPECT_EQ(pool.unsynced(account(1).in(4)), 6U);
}

TEST(RecordPool, IsCrowdedWhenFewAreLeft) {
    std::vector<Record> memory(8);
    RecordPool pool{memory, 1, kStart};
    for (std::uint64_t i = 0; i < 6; ++i) {
        EXPECT_FALSE(pool.is_crowded());
        (void)pool.add(account(i), 1, kStart, Due::Late);
    }
    EXPECT_FALSE(pool.is_crowded());
    (void)pool.add(account(6), 1, kStart, Due::Late);
    EXPECT_TRUE(pool.is_crowded());
}

// Whatever was noted is found again by a pool that begins over the same memory, as unsent.
TEST(RecordPool, BeginsAnewWithWhatWasUnsynced) {
    std::vector<Record> memory(4);
    {
        RecordPool pool{memory, 2, kStart};
        pool.note_sent(pool.add(account(1), 5, kStart));
        (void)pool.add(account(1), 2, kStart);
        (void)pool.add(account(2), 1, kStart);
        const std::uint32_t gone = pool.add(account(3), 1, kStart);
        pool.note_sent(gone);
        pool.note_contained(gone, 1);
    }
    const RecordPool pool{memory, 2, kStart};
    EXPECT_EQ(pool.in_use(), 2U);
    ASSERT_NE(pool.find(account(1)), nullptr);
    EXPECT_EQ(pool.find(account(1))->unsent(), 7U);
    EXPECT_EQ(pool.find(account(1))->sent(), 0U);
    EXPECT_EQ(pool.find(account(2))->unsent(), 1U);
}

constexpr std::size_t kLongestWalk = 64;  // of records at one head, by another core

// All windows of an account begin at one head, and so can be too many for another core to read:
// what they have is taken for the most there can be, which is counted.
TEST(RecordPool, AnAmountThatCannotBeReadIsTheMostThereCanBe) {
    std::vector<Record> memory(128);
    RecordPool pool{memory, 1, kStart};
    const Account key = account(1);
    const BucketAt at{key.table_key(), key.aggregation_level};
    Turn turn = 1;
    for (; turn <= kLongestWalk + 1; ++turn) {
        EXPECT_NE(pool.add(key.in(turn), 2, kStart), kNoRecord);
    }
    EXPECT_EQ(pool.of(at), Units{2 * (kLongestWalk + 1)});
    EXPECT_EQ(pool.reads_given_up(), 0U);
    EXPECT_NE(pool.add(key.in(turn), 2, kStart), kNoRecord);
    EXPECT_EQ(pool.of(at), Units{UINT32_MAX});
    EXPECT_EQ(pool.of(at), Units{UINT32_MAX});
    EXPECT_EQ(pool.reads_given_up(), 2U);
    pool.drop_unsent(pool.index_of(key.in(turn)));
    EXPECT_EQ(pool.of(at), Units{2 * (kLongestWalk + 1)});
    EXPECT_EQ(pool.reads_given_up(), 2U);
}

// The API and the metrics print it beside what else a worker's ledger did.
TEST(RecordPool, ReadsThatAreGivenUpAreCountedByTheLedger) {
    Links links{2, {.merge = 8}};
    DeltaLanes lanes{links};
    BucketStore store{64, 64};
    LedgerStore ledger_store{store};
    std::vector<Record> memory(128);
    Ledger ledger{0, lanes, memory, kStart};
    const Account key = account(1);
    for (Turn turn = 1; turn <= kLongestWalk + 2; ++turn) {
        ASSERT_NE(ledger.note(key.in(turn), 1, {kStart, {}}, Due::Late), kNoRecord);
    }
    EXPECT_EQ(ledger.records().of({key.table_key(), key.aggregation_level}), Units{UINT32_MAX});
    ledger.exchange(ledger_store, {kStart, {}});
    EXPECT_EQ(ledger.counters().read(LedgerEvent::ReadGivenUp), 1U);
}

// Against a map, with as many accounts as collide.
TEST(RecordPool, IsAMapOfAmounts) {
    std::vector<Record> memory(64);
    RecordPool pool{memory, 3, kStart};
    std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> model;  // unsent, sent
    std::mt19937_64 random{7};
    for (int i = 0; i < 200'000; ++i) {
        const std::uint64_t number = random() % 100;
        const std::uint32_t units = 1 + static_cast<std::uint32_t>(random() % 9);
        const std::uint32_t index = pool.index_of(account(number));
        ASSERT_EQ(index != kNoRecord, model.contains(number));
        auto& [unsent, sent] = model[number];
        switch (random() % 3) {
            case 0:
                if (pool.add(account(number), units, kStart,
                             random() % 2 == 0 ? Due::Late : Due::Soon) != kNoRecord) {
                    unsent += units;
                }
                break;
            case 1:
                if (index != kNoRecord && unsent != 0) {
                    pool.note_sent(index);
                    sent += unsent;
                    unsent = 0;
                }
                break;
            default:
                if (index != kNoRecord) {
                    const auto part = static_cast<std::uint32_t>(random() % (sent + 1));
                    pool.note_contained(index, part);
                    sent -= part;
                }
        }
        if (unsent + sent == 0) {
            model.erase(number);
            ASSERT_EQ(pool.find(account(number)), nullptr);
        } else {
            ASSERT_EQ(pool.find(account(number))->unsent(), unsent);
            ASSERT_EQ(pool.find(account(number))->sent(), sent);
        }
        ASSERT_EQ(pool.in_use(), model.size());
    }
    std::size_t listed = 0;
    for (std::size_t owner = 0; owner < 3; ++owner) {
        for (std::size_t list = 0; list < RecordPool::kLists; ++list) {
            for (std::uint32_t at = pool.oldest(owner, list); at != kNoRecord;
                 at = pool.next_oldest(at)) {
                EXPECT_EQ(owner_of(pool.at(at).account(), 3), owner);
                EXPECT_EQ(pool.at(at).due(), list == kSoon ? Due::Soon : Due::Late);
                ++listed;
            }
        }
    }
    EXPECT_EQ(listed, static_cast<std::size_t>(
                          std::count_if(model.begin(), model.end(),
                                        [](const auto& row) { return row.second.first != 0; })));
}

}  // namespace
}  // namespace sluice::record_pool_test
