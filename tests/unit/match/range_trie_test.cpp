#include "lib/match/range_trie.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace sluice {
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
        ASSERT_EQ(trie.find(key), row_by_looking(steps, key))
            << width << " bits, " << steps.size() << " steps, key "
            << static_cast<std::uint64_t>(key);
    }
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
    EXPECT_EQ(trie.find(lone - 1), 0U);
    EXPECT_EQ(trie.find(lone), 1U);
    EXPECT_EQ(trie.find(lone + 1), 2U);
}

}  // namespace
}  // namespace sluice
