#include "lib/share/kept_ring.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace sluice::kept_ring_test {
namespace {

// The two ends of a ring of four.
struct Pair {
    RingMarks writer;
    RingMarks reader;
    std::array<RingLine, 4> lines;
    KeptRing<int> ring{{lines, writer, reader, 3}};

    std::vector<int> drained() {
        std::vector<int> values;
        ring.drain([&](int value) { values.push_back(value); });
        return values;
    }
};

TEST(KeptRing, PutsUntilItIsFullAndGoesOnOnceItHasBeenDrained) {
    Pair pair;
    for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < 4; ++i) {
            EXPECT_TRUE(pair.ring.put(10 * round + i));
        }
        EXPECT_FALSE(pair.ring.put(-1));
        EXPECT_EQ(pair.drained(),
                  (std::vector<int>{10 * round, 10 * round + 1, 10 * round + 2, 10 * round + 3}));
        EXPECT_TRUE(pair.drained().empty());
    }
}

TEST(KeptRing, MarksOfOneRingAreNotThoseOfAnother) {
    Pair pair;
    std::array<RingLine, 2> others;
    KeptRing<int> other{{others, pair.writer, pair.reader, 0}};
    EXPECT_TRUE(pair.ring.put(1));
    EXPECT_EQ(other.waiting(8), 0U);
    EXPECT_TRUE(other.put(2));
    other.drain([](int) {});
    EXPECT_EQ(pair.drained(), std::vector<int>{1});
}

// Marks hold lower halves alone; a ring that takes a million records a second passes 2^32 in 72
// minutes.
TEST(KeptRing, CountsGoOnBeyondTheirLowerHalf) {
    constexpr std::uint64_t kTurn = std::uint64_t{1} << 32;
    EXPECT_EQ(whole_count(0, 0), 0U);
    EXPECT_EQ(whole_count(7, 5), 7U);
    EXPECT_EQ(whole_count(0, kTurn - 1), kTurn);
    EXPECT_EQ(whole_count(3, 5 * kTurn - 2), 5 * kTurn + 3);
    // A total may come before the mark that its amount is done with.
    EXPECT_EQ(whole_count(0xFFFF'FFFF, 5 * kTurn + 1), 5 * kTurn - 1);
    static_assert(whole_count(4, 6) == 4);
}

// Every record is whole, none comes twice, and what is missing is what the writer was told.
TEST(KeptRing, ReaderBesideTheWriter) {
    using Record = std::array<std::uint64_t, 8>;
    constexpr std::uint64_t kRecords = 50'000;
    RingMarks writer_marks;
    RingMarks reader_marks;
    std::array<RingLine, 64> lines;
    KeptRing<Record> ring{{lines, writer_marks, reader_marks}};
    std::uint64_t full = 0;
    std::atomic<bool> written{false};
    std::thread writer{[&] {
        for (std::uint64_t n = 1; n <= kRecords; ++n) {
            Record record;
            record.fill(n);
            if (!ring.put(record)) {
                ++full;
                std::this_thread::yield();
            }
        }
        written.store(true);
    }};
    std::uint64_t last = 0;
    std::uint64_t came = 0;
    const auto look = [&] {
        ring.drain([&](const Record& record) {
            EXPECT_GT(record[0], last);
            EXPECT_EQ(record[0], record[7]);
            last = record[0];
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
}  // namespace sluice::kept_ring_test
