#include "lib/bucket/pool/record_queue.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <set>
#include <vector>

namespace sluice::record_queue_test {
namespace {

struct Three {
    std::array<std::uint32_t, 3> words;
};
struct Two {
    std::array<std::uint64_t, 2> words;
};

template <typename Record>
class RecordQueueOf : public testing::Test {};
using Records = testing::Types<Three, Two>;
TYPED_TEST_SUITE(RecordQueueOf, Records);

template <typename Record>
std::vector<std::uint64_t> contents(const RecordQueue<Record>& queue, const LinePool& pool) {
    std::vector<std::uint64_t> all;
    for (auto at = queue.begin(); !at.at_end(); queue.step(at, pool)) {
        all.push_back(queue.at(at, pool).words[0]);
    }
    return all;
}

TYPED_TEST(RecordQueueOf, DoesAsADequeDoes) {
    LinePool pool{200};
    RecordQueue<TypeParam> queue;
    std::deque<std::uint64_t> expected;
    std::mt19937_64 random{23};
    for (std::uint32_t i = 1; i < 20'000; ++i) {
        const bool grows = i / 100 % 2 == 0;
        if (random() % 4 < (grows ? 3U : 1U) && queue.make_room(pool)) {
            TypeParam record{};
            record.words[0] = i;
            queue.push(pool, record);
            expected.push_back(i);
        } else if (!expected.empty()) {
            ASSERT_EQ(queue.front(pool).words[0], expected.front());
            queue.pop(pool);
            expected.pop_front();
        }
        if (random() % 3000 == 0) {
            queue.clear(pool);
            expected.clear();
        }
        ASSERT_EQ(queue.empty(), expected.empty());
        const std::vector<std::uint64_t> all = contents(queue, pool);
        ASSERT_TRUE(std::equal(all.begin(), all.end(), expected.begin(), expected.end()));
        // Whole lines but for the first and the last, and one held for the next push.
        const std::size_t per_line = 60 / sizeof(TypeParam);
        ASSERT_LE(pool.size() - pool.free(), expected.size() / per_line + 3);
    }
    queue.close(pool);
    EXPECT_EQ(pool.free(), pool.size());
    std::set<PoolLine> lines;
    for (PoolLine line = pool.take(); line != kNoLine; line = pool.take()) {
        ASSERT_LE(line, pool.size());
        lines.insert(line);
    }
    EXPECT_EQ(lines.size(), pool.size());
}

TYPED_TEST(RecordQueueOf, RoomThatWasMadeStays) {
    LinePool pool{1};
    RecordQueue<TypeParam> queue;
    EXPECT_FALSE(queue.has_room());
    EXPECT_TRUE(queue.make_room(pool));
    EXPECT_EQ(pool.free(), 0U);
    EXPECT_TRUE(queue.has_room());
    while (queue.make_room(pool)) {
        queue.push(pool, TypeParam{});
    }
    EXPECT_EQ(contents(queue, pool).size(), 60 / sizeof(TypeParam));
    queue.pop(pool);
    EXPECT_FALSE(queue.has_room());
}

}  // namespace
}  // namespace sluice::record_queue_test
