#include "lib/match/range_table.hpp"

#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <span>
#include <vector>

namespace sluice::range_table_test {
namespace {

template <typename Key>
std::uint32_t row_by_looking(const std::vector<Step<Key>>& steps, Key key) {
    std::uint32_t row = 0;
    for (const Step<Key>& step : steps) {
        row = step.first <= key ? step.row : row;
    }
    return row;
}

template <typename Key>
RangeTable<Key> made(const std::vector<Step<Key>>& steps) {
    return *RangeTable<Key>::make(steps);
}

template <typename Key>
Key random_key(unsigned width, std::mt19937_64& random) {
    const Key key = (static_cast<Key>(random()) << (4 * sizeof(Key))) ^ static_cast<Key>(random());
    return key >> (8 * sizeof(Key) - width);
}

// Keys found together are found where each alone is.
template <typename Key>
void expect_the_same_together(const RangeTable<Key>& table, const std::vector<Key>& keys) {
    constexpr std::size_t kMost = RangeTable<Key>::kMaxKeys;
    std::array<std::uint32_t, kMost> rows{};
    for (std::size_t from = 0; from < keys.size(); from += kMost) {
        const auto some = std::span{keys}.subspan(from, std::min(kMost, keys.size() - from));
        table.find_each(some, rows.data());
        for (std::size_t i = 0; i < some.size(); ++i) {
            ASSERT_EQ(rows[i], table.find(some[i])) << from + i;
        }
    }
    table.find_each({}, nullptr);
}

// Every step's edges, the ends, and keys drawn at random are where looking through the steps says.
template <typename Key>
void expect_agreement(const std::vector<Step<Key>>& steps, unsigned width,
                      std::mt19937_64& random) {
    const RangeTable<Key> table = made(steps);
    const Key largest = static_cast<Key>(~Key{0}) >> (8 * sizeof(Key) - width);
    std::vector<Key> keys{0, largest, largest / 2};
    for (const Step<Key>& step : steps) {
        keys.push_back(step.first);
        keys.push_back(step.first == 0 ? 0 : step.first - 1);
    }
    for (int i = 0; i < 100; ++i) {
        keys.push_back(random_key<Key>(width, random));
    }
    for (const Key key : keys) {
        ASSERT_EQ(table.find(key), row_by_looking(steps, key))
            << width << " bits, " << steps.size() << " steps, key "
            << static_cast<std::uint64_t>(key);
    }
    expect_the_same_together(table, keys);
}

// Prefixes as well as odd places, near one another as well as far apart.
template <typename Key>
std::vector<Step<Key>> random_steps(unsigned width, std::size_t count, std::mt19937_64& random) {
    std::set<Key> firsts{0};
    for (std::size_t i = 0; i < count; ++i) {
        const Key key = random_key<Key>(width, random);
        const unsigned cut = static_cast<unsigned>(random()) % width;
        firsts.insert(random() % 2 == 0 ? key : (key >> cut) << cut);
    }
    std::vector<Step<Key>> steps;
    for (const Key first : firsts) {
        steps.push_back({first, static_cast<std::uint32_t>(random() % 5)});
    }
    return steps;
}

template <typename Key>
void try_widths(std::initializer_list<unsigned> widths) {
    std::mt19937_64 random{17};
    for (const unsigned width : widths) {
        for (const std::size_t count : {0, 1, 2, 5, 40, 700}) {
            for (int round = 0; round < 5; ++round) {
                expect_agreement(random_steps<Key>(width, count, random), width, random);
            }
        }
    }
}

TEST(RangeTable, FindsWhatLookingThroughTheStepsFinds) {
    try_widths<std::uint64_t>({1, 8, 12, 13, 17, 32, 48, 60, 61, 63, 64});
}

TEST(RangeTable, FindsWideKeysToo) {
    try_widths<Wide>({32, 64, 127, 128});
}

// One address among all others lies as deep as can be.
TEST(RangeTable, GoesToTheLastBit) {
    const Wide lone = (Wide{0x2001'0DB8} << 96) + 1;
    const std::vector<Step<Wide>> steps{{0, 0}, {lone, 1}, {lone + 1, 2}};
    const RangeTable<Wide> table = made(steps);
    EXPECT_EQ(table.find(lone - 1), 0U);
    EXPECT_EQ(table.find(lone), 1U);
    EXPECT_EQ(table.find(lone + 1), 2U);
}

// So many that the largest table is used, crowded in places.
template <typename Key>
void try_many(unsigned width) {
    constexpr int kOfTheLargestTable = 70'000;
    const auto count =
        static_cast<std::size_t>(std::max(test::rounds(200'000), kOfTheLargestTable));
    std::mt19937_64 random{23};
    std::set<Key> firsts{0};
    const Key crowd = random_key<Key>(width, random);
    while (firsts.size() < count) {
        const Key key = random_key<Key>(width, random);
        firsts.insert(random() % 4 == 0 ? crowd ^ (key & 0xF'FFFF) : key);
    }
    std::vector<Step<Key>> steps;
    for (const Key first : firsts) {
        steps.push_back({first, static_cast<std::uint32_t>(steps.size() % 7)});
    }
    const RangeTable<Key> table = made(steps);
    std::vector<Key> keys;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        ASSERT_EQ(table.find(steps[i].first), steps[i].row) << i;
        keys.push_back(steps[i].first);
        if (i > 0) {
            ASSERT_EQ(table.find(steps[i].first - 1), steps[i - 1].row) << i;
            keys.push_back(steps[i].first - 1);
        }
    }
    expect_the_same_together(table, keys);
}

// The last key of all begins a step of its own; there is no slot behind it.
TEST(RangeTable, EndsWithAStepAtTheLastKey) {
    const std::vector<Step<Wide>> steps{{0, 2}, {~Wide{0}, 1}};
    const RangeTable<Wide> table = made(steps);
    EXPECT_EQ(table.find(0), 2U);
    EXPECT_EQ(table.find(Wide{0x2001'0DB8} << 96), 2U);
    EXPECT_EQ(table.find(~Wide{0} - 1), 2U);
    EXPECT_EQ(table.find(~Wide{0}), 1U);
}

TEST(RangeTable, HoldsALargeList) {
    try_many<std::uint64_t>(32);
    try_many<Wide>(128);
}

// Steps that lie in the crowd of one network, at the end of a long way of shared bits.
TEST(RangeTable, MemoryFollowsTheSteps) {
    std::mt19937_64 random{5};
    std::vector<Step<Wide>> steps{{0, 0}};
    for (std::uint32_t i = 0; i < 20'000; ++i) {
        const Wide alone = (Wide{i + 1} << 100) + (random() >> 1);
        steps.push_back({alone, 1});
        steps.push_back({alone + 1, 0});
    }
    const RangeTable<Wide> table = made(steps);
    EXPECT_LT(table.bytes(), (std::size_t{4} << 20) + 32 * steps.size());
}

// Steps within a slot, as many as a line has ranges, fewer, and more; at its ends too. Their rows
// are the largest that there may be.
TEST(RangeTable, LinesWithAndWithoutRoomAgree) {
    std::mt19937_64 random{8};
    for (std::size_t count = 0; count < 24; ++count) {
        const std::uint64_t network = (random() & 0xF'FFFF) << 12;
        std::map<std::uint64_t, std::uint32_t> firsts{{0, 1}, {network, 2}, {0xFFFF'FFFF, 3}};
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t inside = i == 0 ? 1 : i == 1 ? 0xFFF : random() & 0xFFF;
            firsts.emplace(network + inside,
                           RangeTable<Wide>::kMaxRow - static_cast<std::uint32_t>(i));
        }
        std::vector<Step<std::uint64_t>> steps;
        std::vector<Step<Wide>> wide;  // the same at the other end of a key
        for (const auto& [first, row] : firsts) {
            steps.push_back({first, row});
            wide.push_back({Wide{first} << 96, row});
        }
        const RangeTable<std::uint64_t> table = made(steps);
        const RangeTable<Wide> wide_table = made(wide);
        for (std::uint64_t key = network; key < network + 0x1000; ++key) {
            const std::uint32_t expected = std::prev(firsts.upper_bound(key))->second;
            ASSERT_EQ(table.find(key), expected) << count << " steps, key " << key - network;
            ASSERT_EQ(wide_table.find(Wide{key} << 96 | random()), expected) << count;
        }
    }
}

TEST(RangeTable, MoreThanItMayTakeIsRefused) {
    std::vector<Step<std::uint64_t>> steps{{0, 0}};
    std::vector<Step<Wide>> wide{{0, 0}};
    for (std::uint32_t i = 1; i < 1000; ++i) {
        steps.push_back({i * 100, i});
        wide.push_back({Wide{i} << 80, i});
    }
    const auto expect_bound = []<typename Key>(const std::vector<Step<Key>>& all) {
        const std::size_t bytes = RangeTable<Key>::bytes_for(all);
        EXPECT_EQ(RangeTable<Key>::make(all)->bytes(), bytes);
        EXPECT_TRUE(RangeTable<Key>::make(all, bytes).has_value());
        EXPECT_EQ(RangeTable<Key>::make(all, bytes - 1).error().code, Errc::TooMany);
        EXPECT_GT(RangeTable<Key>::bytes_for(all, 1000), 1000U);
    };
    expect_bound(steps);
    expect_bound(wide);
}

}  // namespace
}  // namespace sluice::range_table_test
