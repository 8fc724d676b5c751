#include "lib/match/packed_v4.hpp"
#include "lib/match/packed_v6.hpp"
#include "lib/match/range_table.hpp"
#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

namespace sluice::prefix_tables_test {
namespace {

// A prefix, and the value of the addresses that no longer one holds.
template <typename Key>
struct Prefix {
    Key first{};
    unsigned length = 0;
    std::uint32_t value = 0;
};

template <typename Key>
constexpr unsigned kBits = sizeof(Key) == 8 ? 32 : 128;

template <typename Key>
constexpr Key kLast = static_cast<Key>(~Key{0}) >> (8 * sizeof(Key) - kBits<Key>);

// All keys of a prefix but its first bits.
template <typename Key>
Key others(unsigned length) {
    return length == kBits<Key> ? Key{0} : static_cast<Key>(kLast<Key> >> length);
}

// The oracle: the longest prefix that holds the key, found by looking at all of them. Of two alike,
// the later.
template <typename Key>
std::uint32_t longest_match(const std::vector<Prefix<Key>>& prefixes, Key key) {
    std::uint32_t value = 0;
    unsigned longest = 0;
    for (const Prefix<Key>& prefix : prefixes) {
        if ((key & ~others<Key>(prefix.length)) == prefix.first && prefix.length >= longest) {
            longest = prefix.length;
            value = prefix.value;
        }
    }
    return value;
}

// Values change only where a prefix begins or has ended.
template <typename Key>
std::vector<Step<Key>> steps_of(const std::vector<Prefix<Key>>& prefixes) {
    std::map<Key, std::uint32_t> places{{0, 0}};
    for (const Prefix<Key>& prefix : prefixes) {
        places[prefix.first] = 0;
        const Key last = prefix.first | others<Key>(prefix.length);
        if (last != kLast<Key>) {
            places[last + 1] = 0;
        }
    }
    std::vector<Step<Key>> steps;
    for (auto& [key, value] : places) {
        value = longest_match(prefixes, key);
        if (steps.empty() || steps.back().row != value) {
            steps.push_back({key, value});
        }
    }
    return steps;
}

// The key in the form that find() takes.
template <typename Key>
using Address = std::conditional_t<sizeof(Key) == 8, std::uint32_t, Wide>;

template <typename Key, typename Table>
void expect_longest_match_in(const Table& table, const std::vector<Prefix<Key>>& prefixes,
                             std::mt19937_64& random) {
    std::vector<Key> keys{0, kLast<Key>, kLast<Key> / 2};
    for (const Prefix<Key>& prefix : prefixes) {
        const Key last = prefix.first | others<Key>(prefix.length);
        keys.insert(keys.end(), {prefix.first, last, prefix.first - 1, last + 1,
                                 prefix.first + (random() & others<Key>(prefix.length))});
    }
    for (int i = 0; i < 50; ++i) {
        keys.push_back((Key{random()} << (4 * sizeof(Key))) ^ Key{random()});
    }
    for (Key& key : keys) {
        key &= kLast<Key>;
    }
    for (std::size_t from = 0; from < keys.size(); from += RangeTable<Key>::kMaxKeys) {
        const auto some = std::span<const Key>{keys}.subspan(
            from, std::min(RangeTable<Key>::kMaxKeys, keys.size() - from));
        std::array<std::uint32_t, RangeTable<Key>::kMaxKeys> values{};
        table.find_each(some, values.data());
        for (std::size_t i = 0; i < some.size(); ++i) {
            const std::uint32_t expected = longest_match(prefixes, some[i]);
            ASSERT_EQ(values[i], expected) << from + i << " of " << prefixes.size();
            ASSERT_EQ(table.find(static_cast<Address<Key>>(some[i])), expected);
        }
    }
    table.find_each({}, nullptr);
}

template <typename Key>
void expect_longest_match(const std::vector<Prefix<Key>>& prefixes, std::mt19937_64& random) {
    const std::vector<Step<Key>> steps = steps_of(prefixes);
    const auto ranges = RangeTable<Key>::make(steps);
    ASSERT_TRUE(ranges.has_value());
    expect_longest_match_in(*ranges, prefixes, random);
    using Packed = std::conditional_t<sizeof(Key) == 8, PackedV4, PackedV6>;
    const auto packed = Packed::make(steps);
    const bool has_few_rows = std::all_of(steps.begin(), steps.end(), [](const Step<Key>& step) {
        return step.row <= Packed::kMaxValue;
    });
    ASSERT_EQ(packed.has_value(), has_few_rows);
    if (has_few_rows) {
        ASSERT_EQ(packed->bytes(), Packed::bytes_for(steps));
        expect_longest_match_in(*packed, prefixes, random);
    }
}

template <typename Key>
Prefix<Key> prefix_of(Key key, unsigned length, std::uint32_t value) {
    return {static_cast<Key>(key & kLast<Key> & ~others<Key>(length)), length, value};
}

// Anywhere, near one another, nested in one another.
template <typename Key>
std::vector<Prefix<Key>> random_prefixes(std::size_t count, std::mt19937_64& random) {
    std::vector<Prefix<Key>> prefixes;
    const Key near = (Key{random()} << (4 * sizeof(Key))) ^ Key { random() };
    for (std::size_t i = 0; i < count; ++i) {
        const Key far = (Key{random()} << (4 * sizeof(Key))) ^ Key { random() };
        const auto length = static_cast<unsigned>(random() % (kBits<Key> + 1));
        const auto shared = static_cast<unsigned>(random() % kBits<Key>);
        const Key key = random() % 3 == 0 ? far : near ^ (far & others<Key>(shared));
        prefixes.push_back(prefix_of(key, length, 1 + static_cast<std::uint32_t>(random() % 9)));
    }
    return prefixes;
}

TEST(PrefixTables, RandomPrefixesAgreeWithALinearSearch) {
    std::mt19937_64 random{1};
    for (const std::size_t count : {0U, 1U, 2U, 9U, 60U, 200U, 600U}) {
        expect_longest_match(random_prefixes<std::uint64_t>(count, random), random);
    }
}

TEST(PrefixTables, RandomIpv6PrefixesAgreeWithALinearSearch) {
    std::mt19937_64 random{2};
    for (int round = 0; round < 20; ++round) {
        for (const std::size_t count : {0U, 1U, 2U, 3U, 4U, 5U, 9U, 60U, 200U}) {
            expect_longest_match(random_prefixes<Wide>(count, random), random);
        }
    }
}

// A /24 in as many ranges as a line holds, one more, and as many as it has addresses.
TEST(PrefixTables, DividedNetworksAreWholeAtTheirEdges) {
    std::mt19937_64 random{3};
    for (const std::uint64_t slot : {0ULL, 0x0A0102ULL, 0xFFFFFFULL}) {
        for (const unsigned hosts : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 12U, 13U, 14U, 128U}) {
            std::vector<Prefix<std::uint64_t>> prefixes;
            for (unsigned i = 0; i < hosts; ++i) {
                prefixes.push_back(prefix_of<std::uint64_t>(slot << 8 | (255 - 2 * i), 32, 1 + i));
            }
            expect_longest_match(prefixes, random);
        }
    }
}

// Steps that are no prefixes, and hug the edges of /24s.
TEST(PrefixTables, AnySortedStepsWillDo) {
    const std::vector<Step<std::uint64_t>> steps{
        {0, 1},      {1, 2},          {255, 3},         {256, 4},        {257, 5},
        {511, 6},    {512, 7},        {1024, 8},        {0x0A000000, 9}, {0x0A000001, 10},
        {0xFF00, 0}, {0xFFFFFF00, 3}, {0xFFFFFFFF, 12},
    };
    std::vector<Step<std::uint64_t>> sorted = steps;
    std::sort(sorted.begin(), sorted.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    const auto table = RangeTable<std::uint64_t>::make(sorted);
    ASSERT_TRUE(table.has_value());
    for (const Step<std::uint64_t>& step : sorted) {
        for (const std::uint64_t address : {step.first - 1, step.first, step.first + 1}) {
            const auto key = static_cast<std::uint32_t>(address);
            std::uint32_t row = 0;
            for (const Step<std::uint64_t>& other : sorted) {
                row = other.first <= key ? other.row : row;
            }
            EXPECT_EQ(table->find(key), row) << address;
        }
    }
}

// One boundary more at each power of two: the deepest that tables can nest.
TEST(PrefixTables, PrefixesNestedToTheLastBitAgree) {
    std::mt19937_64 random{4};
    std::vector<Prefix<Wide>> nested;
    std::vector<Prefix<Wide>> other_side;
    const Wide key = (Wide{random()} << 64) | random();
    for (unsigned length = 0; length <= 128; ++length) {
        nested.push_back(prefix_of(key, length, 1 + length));
        other_side.push_back(prefix_of(Wide{0}, length, 1 + length));
    }
    expect_longest_match(nested, random);
    expect_longest_match(other_side, random);
}

TEST(PrefixTables, DenseHostsAndFarOnesAgree) {
    std::mt19937_64 random{5};
    std::vector<Prefix<Wide>> prefixes{prefix_of(~Wide{0}, 128, 7), prefix_of(Wide{0}, 128, 8)};
    const Wide network = Wide{0x2001'0db8} << 96;
    for (std::uint32_t i = 0; i < 300; ++i) {
        prefixes.push_back(prefix_of<Wide>(network + i * 3, 128, 1 + i));
    }
    expect_longest_match(prefixes, random);
}

// Of a list as feeds are, every step and its neighbours, also where a slot of the root, or a /24 in
// it, has one step more than a record.
TEST(PackedV4, FromOneStepInASlotToAllAgreesWithHalving) {
    std::mt19937_64 random{9};
    std::map<std::uint64_t, std::uint32_t> steps{{0, 255}};
    for (std::uint64_t slot = 0; slot < 40; ++slot) {
        for (std::uint64_t i = 0; i < slot; ++i) {
            steps.emplace((slot + 100) << 14 | (random() & 0x3FFF), random() & 255);
            steps.emplace((slot + 200) << 14 | (random() & 0xFF), random() & 255);
        }
    }
    for (std::uint64_t address = 300ULL << 14; address < 301ULL << 14; ++address) {
        steps.emplace(address, address & 1);
    }
    steps.emplace(0xFFFF'FFFF, 0);
    std::vector<Step<std::uint64_t>> sorted;
    for (const auto& [first, row] : steps) {
        sorted.push_back({first, row});
    }
    const auto packed = PackedV4::make(sorted);
    ASSERT_TRUE(packed.has_value());
    EXPECT_EQ(packed->bytes(), PackedV4::bytes_for(sorted));
    std::vector<std::uint64_t> addresses{0, 0xFFFF'FFFF};
    for (std::uint64_t address = 99ULL << 14; address < 302ULL << 14; ++address) {
        addresses.push_back(address);
    }
    std::shuffle(addresses.begin() + 2, addresses.end(), random);
    addresses.resize(static_cast<std::size_t>(test::rounds(static_cast<int>(addresses.size()))));
    std::array<std::uint32_t, PackedV4::kMaxKeys> values{};
    for (std::size_t from = 0; from < addresses.size(); from += values.size()) {
        const auto some = std::span<const std::uint64_t>{addresses}.subspan(
            from, std::min(values.size(), addresses.size() - from));
        packed->find_each(some, values.data());
        for (std::size_t i = 0; i < some.size(); ++i) {
            const std::uint32_t expected = std::prev(steps.upper_bound(some[i]))->second;
            ASSERT_EQ(values[i], expected) << some[i];
            ASSERT_EQ(packed->find(static_cast<std::uint32_t>(some[i])), expected) << some[i];
        }
    }
}

TEST(PackedV4, MoreRowsThanAByteTellsApartAreRefused) {
    const std::vector<Step<std::uint64_t>> steps{{0, 0}, {7, PackedV4::kMaxValue + 1}};
    EXPECT_EQ(PackedV4::make(steps).error().code, Errc::TooMany);
    EXPECT_GT(PackedV4::bytes_for(steps), PackedV4::kMostBytes);
    const std::vector<Step<std::uint64_t>> few{{0, 0}, {7, PackedV4::kMaxValue}};
    EXPECT_EQ(PackedV4::make(few, 1000).error().code, Errc::TooMany);
    EXPECT_TRUE(PackedV4::make(few).has_value());
}

}  // namespace
}  // namespace sluice::prefix_tables_test
