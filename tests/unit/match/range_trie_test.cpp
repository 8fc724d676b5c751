#include "lib/match/range_trie.hpp"

#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <span>

namespace sluice::range_trie_test {
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
Key random_key(unsigned width, std::mt19937_64& random) {
    const Key key = (static_cast<Key>(random()) << (4 * sizeof(Key))) ^ static_cast<Key>(random());
    return key >> (8 * sizeof(Key) - width);
}

// Keys found together are found where each alone is.
template <typename Key>
void expect_the_same_together(const RangeTrie<Key>& trie, const std::vector<Step<Key>>& steps,
                              const std::vector<Key>& keys) {
    constexpr std::size_t kMost = RangeTrie<Key>::kMaxKeys;
    std::array<std::uint32_t, kMost> rows{};
    for (std::size_t from = 0; from < keys.size(); from += kMost) {
        const auto some = std::span{keys}.subspan(from, std::min(kMost, keys.size() - from));
        trie.find_each(some, steps, rows.data());
        for (std::size_t i = 0; i < some.size(); ++i) {
            ASSERT_EQ(rows[i], trie.find(some[i], steps)) << from + i;
        }
    }
    trie.find_each({}, steps, nullptr);
}

// Every step's edges, the ends, and keys drawn at random are where looking through the steps says.
template <typename Key>
void expect_agreement(const std::vector<Step<Key>>& steps, unsigned width,
                      std::mt19937_64& random) {
    const RangeTrie<Key> trie{steps, width};
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
        ASSERT_EQ(trie.find(key, steps), row_by_looking(steps, key))
            << width << " bits, " << steps.size() << " steps, key "
            << static_cast<std::uint64_t>(key);
    }
    expect_the_same_together(trie, steps, keys);
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

TEST(RangeTrie, FindsWhatLookingThroughTheStepsFinds) {
    try_widths<std::uint64_t>({1, 8, 12, 13, 17, 32, 48, 60, 61, 63, 64});
}

TEST(RangeTrie, FindsWideKeysToo) {
    try_widths<Wide>({32, 64, 127, 128});
}

// One address among all others lies as deep as can be.
TEST(RangeTrie, GoesToTheLastBit) {
    const Wide lone = (Wide{0x2001'0DB8} << 96) + 1;
    const std::vector<Step<Wide>> steps{{0, 0}, {lone, 1}, {lone + 1, 2}};
    const RangeTrie<Wide> trie{steps, 128};
    EXPECT_EQ(trie.find(lone - 1, steps), 0U);
    EXPECT_EQ(trie.find(lone, steps), 1U);
    EXPECT_EQ(trie.find(lone + 1, steps), 2U);
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
    const RangeTrie<Key> trie{steps, width};
    std::vector<Key> keys;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        ASSERT_EQ(trie.find(steps[i].first, steps), steps[i].row) << i;
        keys.push_back(steps[i].first);
        if (i > 0) {
            ASSERT_EQ(trie.find(steps[i].first - 1, steps), steps[i - 1].row) << i;
            keys.push_back(steps[i].first - 1);
        }
    }
    expect_the_same_together(trie, steps, keys);
}

// The last key of all begins a step of its own; there is no slot behind it.
TEST(RangeTrie, EndsWithAStepAtTheLastKey) {
    const std::vector<Step<Wide>> steps{{0, 2}, {~Wide{0}, 1}};
    const RangeTrie<Wide> trie{steps, 128};
    EXPECT_EQ(trie.find(0, steps), 2U);
    EXPECT_EQ(trie.find(Wide{0x2001'0DB8} << 96, steps), 2U);
    EXPECT_EQ(trie.find(~Wide{0} - 1, steps), 2U);
    EXPECT_EQ(trie.find(~Wide{0}, steps), 1U);
}

TEST(RangeTrie, HoldsALargeList) {
    try_many<std::uint64_t>(32);
    try_many<Wide>(128);
}

// Steps that lie in the crowd of one network, at the end of a long way of shared bits.
TEST(RangeTrie, MemoryFollowsTheSteps) {
    std::mt19937_64 random{5};
    std::vector<Step<Wide>> steps{{0, 0}};
    for (std::uint32_t i = 0; i < 20'000; ++i) {
        const Wide alone = (Wide{i + 1} << 100) + (random() >> 1);
        steps.push_back({alone, 1});
        steps.push_back({alone + 1, 0});
    }
    const RangeTrie<Wide> trie{steps, 128};
    EXPECT_LT(trie.bytes(), (std::size_t{4} << 20) + 32 * steps.size());
}

}  // namespace
}  // namespace sluice::range_trie_test
