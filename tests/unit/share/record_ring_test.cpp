#include "lib/share/record_ring.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace sluice::record_ring_test {
namespace {

void put(RecordRing<int>& ring, int value) {
    int* record = ring.next();
    ASSERT_NE(record, nullptr);
    *record = value;
    ring.commit();
}

std::vector<int> drained(RecordRing<int>& ring) {
    std::vector<int> values;
    ring.drain([&](int value) { values.push_back(value); });
    return values;
}

TEST(RecordRing, HandsOverInOrderAndTakesNoMoreThanItHolds) {
    RecordRing<int> ring{4};
    EXPECT_TRUE(drained(ring).empty());
    for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < 4; ++i) {
            put(ring, 10 * round + i);
        }
        EXPECT_EQ(ring.next(), nullptr);
        EXPECT_EQ(drained(ring),
                  (std::vector<int>{10 * round, 10 * round + 1, 10 * round + 2, 10 * round + 3}));
    }
}

TEST(RecordRing, WhatIsNotCommittedIsNotThere) {
    RecordRing<int> ring{4};
    *ring.next() = 7;
    EXPECT_TRUE(drained(ring).empty());
    put(ring, 8);
    EXPECT_EQ(drained(ring), std::vector<int>{8});
}

// Every record is whole, none comes twice, and what is missing is what the writer was told.
TEST(RecordRing, ReaderBesideTheWriter) {
    struct Record {
        std::array<std::uint64_t, 16> words;
    };
    constexpr std::uint64_t kRecords = 200'000;
    RecordRing<Record> ring{64};
    std::uint64_t full = 0;
    std::atomic<bool> written{false};
    std::thread writer{[&] {
        for (std::uint64_t n = 1; n <= kRecords; ++n) {
            Record* record = ring.next();
            if (record == nullptr) {
                ++full;
                std::this_thread::yield();
                continue;
            }
            record->words.fill(n);
            ring.commit();
        }
        written.store(true);
    }};
    std::uint64_t last = 0;
    std::uint64_t came = 0;
    const auto look = [&] {
        ring.drain([&](const Record& record) {
            EXPECT_GT(record.words[0], last);
            EXPECT_EQ(record.words[0], record.words[15]);
            last = record.words[0];
            ++came;
        });
    };
    while (!written.load()) {
        look();
        std::this_thread::yield();
    }
    writer.join();
    look();
    EXPECT_GT(came, 0U);
    EXPECT_EQ(came + full, kRecords);
}

}  // namespace
}  // namespace sluice::record_ring_test
