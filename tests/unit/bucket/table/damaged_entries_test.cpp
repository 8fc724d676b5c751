#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/meter/distinct_values.hpp"
#include "lib/bucket/table/bucket_store.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

// A worker's memory as a process left it, with one bit of it flipped: what the next process finds.
namespace sluice::damaged_entries_test {
namespace {

using namespace std::chrono_literals;

constexpr Now kNow{Instant{100h}, 400'000h};
constexpr Units kMost{500};
constexpr LimitSlot kBucket = 1;
constexpr LimitSlot kPenalty = 6;
const WindowNumbers kWindow{kMost.count(), Nanoseconds{24h}.count()};

struct Memory {
    static constexpr std::size_t kKeys = 64;
    static constexpr std::size_t kLines = 64;

    StoreLayout layout{kKeys, kLines};
    LineMemory memory{layout.bytes()};

    [[nodiscard]] StoreMemory store() const { return {memory.data(), layout, 4096}; }
    [[nodiscard]] std::size_t bytes() const { return layout.bytes(); }
    void copy_from(const Memory& other) {
        std::memcpy(memory.data(), other.memory.data(), bytes());
    }
};

TableKey key_of(LimitSlot slot) {
    return {GroupKey{0x9E37'79B9'7F4A'7C15 * (slot + 1U)}, slot};
}

// One key of each algorithm, with nothing left; version 2 is in force, and 1 was before.
class DamagedEntriesTest : public testing::Test {
protected:
    DamagedEntriesTest() {
        for (LimitSlot slot = 1; slot < rows.size(); ++slot) {
            rows[slot].limit = &limits[slot - 1U];
            rows[slot].version = 2;
        }
        rows[kBucket].previous = previous;
        BucketStore store{left.store()};
        store.adopt(rows, 0, 48h, kNow);
        for (LimitSlot slot = 1; slot < rows.size(); ++slot) {
            Entry* entry = store.keys.make_place(key_of(slot), store.registry, kNow);
            Cell cell;
            EXPECT_TRUE(open_bucket(cell, limits[slot - 1U], store.registry.pool(),
                                    GroupKey{key_of(slot).hash}, kNow));
            if (slot == kPenalty) {
                cell = {kNow.at + 24h, kNoLine};
            } else {
                charge(cell, limits[slot - 1U], store.registry.pool(), kNow, {kMost});
            }
            entry->file(cell, key_of(slot).slot_and_tag, {2, 0});
            entry->release();
            at[slot] = static_cast<std::size_t>(reinterpret_cast<std::byte*>(entry) -
                                                static_cast<std::byte*>(left.memory.data()));
        }
    }

    struct Outcome {
        BucketStore::Found found;
        Units remaining{0};
        bool there = false;
    };
    // Recovers a copy with that bit flipped, an hour later.
    Outcome flip(LimitSlot slot, std::size_t byte, unsigned bit) {
        found_memory.copy_from(left);
        auto* bytes = static_cast<std::uint8_t*>(found_memory.memory.data());
        bytes[byte] = static_cast<std::uint8_t>(bytes[byte] ^ (1U << bit));
        return take_up(slot);
    }
    Outcome take_up(LimitSlot slot) {
        const Now later{kNow.at + 1h, kNow.utc_ahead};
        BucketStore store{found_memory.store()};
        Outcome outcome{.found = store.recover(rows, later)};
        store.adopt(rows, 0, 48h, later);
        Entry* entry = store.keys.find(key_of(slot));
        if (entry != nullptr && !entry->idle(later.at)) {
            store.registry.update(*entry, later);
            outcome.there = true;
            outcome.remaining =
                remaining(entry->cell(), limits[slot - 1U], store.registry.pool(), later);
        }
        return outcome;
    }
    [[nodiscard]] Units untouched(LimitSlot slot) {
        found_memory.copy_from(left);
        return take_up(slot).remaining;
    }

    static Limit rate(Units burst, Nanoseconds each) {
        return *Limit::make({Units{1}, each}, burst);
    }
    std::vector<AnyLimit> limits{
        TokenBucketLimit{rate(kMost, 60s)},
        FixedWindowLimit{kWindow, WindowPhase::First, 0},
        SlidingWindowLimit{kWindow},
        SlidingCountersLimit{kWindow, 8, Edge::Strict},
        SlidingLogLimit{kWindow},
        PenaltyLimit{3, Nanoseconds{1h}.count(), Nanoseconds{24h}.count()}};
    std::vector<PreviousNumbers> previous{
        {.limit = TokenBucketLimit{rate(kMost, 30s)}, .coarser = {}, .version = 1, .change = 0}};
    std::vector<SlotRow> rows{7};
    std::array<std::size_t, 7> at{};  // by slot: where the entry lies
    Memory left;
    Memory found_memory;
};

TEST_F(DamagedEntriesTest, UntouchedAllGoOn) {
    for (LimitSlot slot = 1; slot < rows.size(); ++slot) {
        found_memory.copy_from(left);
        const Outcome outcome = take_up(slot);
        EXPECT_EQ(outcome.found.damaged, 0U) << slot;
        EXPECT_EQ(outcome.found.live, 6U) << slot;
        EXPECT_TRUE(outcome.there) << slot;
    }
}

// The instant of an entry whose state lies in a line is there twice: no bit of it mints anything.
TEST_F(DamagedEntriesTest, NoBitOfTheTimeOfAStateInLinesMints) {
    for (LimitSlot slot = 2; slot < kPenalty; ++slot) {
        const Units before = untouched(slot);
        for (unsigned bit = 0; bit < 64; ++bit) {
            const Outcome outcome = flip(slot, at[slot] + bit / 8, bit % 8);
            EXPECT_TRUE(outcome.there) << "slot " << slot << " bit " << bit;
            EXPECT_LE(outcome.remaining, before) << "slot " << slot << " bit " << bit;
        }
    }
}

// Of a bucket in its entry there is one copy: a smaller debt than it has is as likely as any other.
// What it cannot be counts as full.
TEST_F(DamagedEntriesTest, ABucketThatCannotBeOwesAFullDebt) {
    struct Row {
        const char* what;
        unsigned bit;  // of the time
    };
    const Row rows_of_bits[] = {
        {"below zero", 63},
        {"in years", 62},
        {"in two weeks", 50 + kInstantShift},
        {"a version that was never", kVersionShift + 2},
        {"a level of parents", kLevelShift},
        {"the last level", kLevelShift + 1},
    };
    for (const Row& row : rows_of_bits) {
        const Outcome outcome = flip(kBucket, at[kBucket] + row.bit / 8, row.bit % 8);
        EXPECT_EQ(outcome.found.damaged, 1U) << row.what;
        EXPECT_TRUE(outcome.there) << row.what;
        EXPECT_EQ(outcome.remaining, Units{0}) << row.what;
    }
    // A bit of the rest of a bucket of whole ns is none of its state.
    EXPECT_EQ(flip(kBucket, at[kBucket] + 8 + 7, 3).remaining, untouched(kBucket));
}

TEST_F(DamagedEntriesTest, ALineThatIsNotItsOwnCountsAsFull) {
    for (LimitSlot slot = 2; slot < kPenalty; ++slot) {
        for (unsigned bit = kRestShift; bit < 64; ++bit) {
            const Outcome outcome = flip(slot, at[slot] + 8 + bit / 8, bit % 8);
            EXPECT_TRUE(outcome.there) << "slot " << slot << " bit " << bit;
            EXPECT_LE(outcome.remaining, untouched(slot)) << "slot " << slot << " bit " << bit;
            EXPECT_GE(outcome.found.damaged, 1U) << "slot " << slot << " bit " << bit;
        }
    }
}

TEST_F(DamagedEntriesTest, ABanStays) {
    for (const unsigned bit : {63U, unsigned{kVersionShift} + 2, unsigned{kLevelShift}}) {
        const Outcome outcome = flip(kPenalty, at[kPenalty] + bit / 8, bit % 8);
        EXPECT_EQ(outcome.found.damaged, 1U) << bit;
        EXPECT_TRUE(outcome.there) << bit;
        EXPECT_EQ(outcome.remaining, Units{0}) << bit;
    }
}

// When numbers changed: whoever needs to know owes a full debt, and nobody else anything more.
// (Once more under a sanitizer, of every seventh bit: in turn each of a byte.)
TEST_F(DamagedEntriesTest, AnInstantOfAChangeThatCannotBeTold) {
    const std::size_t words = sizeof(ChangeTimes) + sizeof(RecoveryLog::changes);
    const Units untouched_remaining = untouched(kBucket);
    for (std::size_t bit = 0; bit < words * 8; bit += test::rounds(7) == 7 ? 1 : 7) {
        const Outcome outcome = flip(kBucket, bit / 8, bit % 8);
        EXPECT_EQ(outcome.found.damaged, 0U) << bit;
        EXPECT_EQ(outcome.remaining, untouched_remaining) << bit;
    }
    auto& entry =
        *reinterpret_cast<Entry*>(static_cast<std::byte*>(left.memory.data()) + at[kBucket]);
    left.store().recovery_log().changed[0].set(kNow.at);
    entry.write_time(1, kNow.at + 2h);
    EXPECT_NE(untouched(kBucket), Units{0});
    const Outcome outcome = flip(kBucket, 3, 1);
    EXPECT_EQ(outcome.found.damaged, 1U);
    EXPECT_EQ(outcome.remaining, Units{0});
}

// An undo that was never begun would put an entry back that has been charged since.
TEST_F(DamagedEntriesTest, AnUndoThatWasNeverBegunIsNotDone) {
    constexpr std::size_t kUndo = offsetof(RecoveryLog, undo);
    for (unsigned bit = 0; bit < 64; ++bit) {
        for (LimitSlot slot = 1; slot < rows.size(); ++slot) {
            const Outcome outcome = flip(slot, kUndo + bit / 8, bit % 8);
            EXPECT_EQ(outcome.found.damaged, 1U) << bit;
            EXPECT_EQ(outcome.remaining, untouched(slot)) << bit;
        }
    }
}

constexpr LimitSlot kValues = 7;

// And a key with twenty of two hundred different values.
class DamagedValuesTest : public DamagedEntriesTest {
protected:
    DamagedValuesTest() {
        limits.emplace_back(*make_distinct(Units{200}, 24h));
        rows.resize(limits.size() + 1);
        for (LimitSlot slot = 1; slot < rows.size(); ++slot) {
            rows[slot].limit = &limits[slot - 1U];
            rows[slot].version = 2;
        }
        BucketStore store{left.store()};
        (void)store.recover(rows, kNow);
        store.adopt(rows, 0, 48h, kNow);
        Entry* entry = store.keys.make_place(key_of(kValues), store.registry, kNow);
        LinePool& pool = store.registry.pool();
        Cell cell;
        EXPECT_TRUE(open_bucket(cell, limits.back(), pool, GroupKey{key_of(kValues).hash}, kNow));
        for (std::uint32_t value = 1; value <= 20; ++value) {
            EXPECT_EQ(check(cell, limits.back(), pool, kNow, {.cost = Units{1}, .value = value}),
                      Conformance::Green);
            charge(cell, limits.back(), pool, kNow, {.cost = Units{1}, .value = value});
        }
        entry->file(cell, key_of(kValues).slot_and_tag, {2, 0});
        entry->release();
        line = static_cast<std::size_t>(
            reinterpret_cast<std::byte*>(&pool.at<DistinctValues>(cell.rest)) -
            static_cast<std::byte*>(left.memory.data()));
    }
    std::size_t line = 0;  // where its state lies
};

// The half that they were shown in, and how many they are.
TEST_F(DamagedValuesTest, NoBitOfTheirHalfOrTheirCountsMints) {
    constexpr unsigned kHead = 12 * 8;
    EXPECT_EQ(untouched(kValues), Units{180});
    for (unsigned bit = 0; bit < kHead; ++bit) {
        const Outcome outcome = flip(kValues, line + bit / 8, bit % 8);
        EXPECT_TRUE(outcome.there) << bit;
        EXPECT_LE(outcome.remaining, Units{180}) << bit;
    }
    // A half whose end no instant can tell.
    const Outcome outcome = flip(kValues, line + 3, 7);
    EXPECT_EQ(outcome.found.damaged, 1U);
    EXPECT_EQ(outcome.remaining, Units{0});
}

// A bit of any byte of the whole file: the walk ends, and what it leaves can be gone on with. Once
// more under a sanitizer, of every seventh byte.
TEST_F(DamagedEntriesTest, NoBitEndsTheProcess) {
    const std::size_t share = test::rounds(7) == 7 ? 1 : 7;
    for (std::size_t byte = 0; byte < left.bytes(); byte += share * (byte < 4096 ? 1 : 61)) {
        (void)flip(kBucket, byte, byte % 8);
        BucketStore store{found_memory.store()};
        store.adopt(rows, 0, 48h, {kNow.at + 2h, kNow.utc_ahead});
        for (int burst = 0; burst < 8; ++burst) {
            (void)store.begin_burst({kNow.at + 30h, kNow.utc_ahead});
        }
    }
}

}  // namespace
}  // namespace sluice::damaged_entries_test
