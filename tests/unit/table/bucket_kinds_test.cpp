#include "lib/table/bucket_table.hpp"
#include "lib/table/limit_registry.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

// What is seen of a burst's keys at once is what their entries say one by one.
namespace sluice::bucket_kinds_test {
namespace {

using namespace std::chrono_literals;

constexpr LimitSlot kSlot = 3;
constexpr std::uint32_t kGeneration = 7;

const AnyLimit kLimit =
    TokenBucketLimit{*Limit::make({.units = Units{1}, .period = 1s}, Units{10})};

struct Lookup {
    TableKey key;
    Entry* entry = nullptr;
};

TableKey random_key(std::mt19937_64& random) {
    return {GroupKey{random()}, kSlot};
}

// An entry may say anything where parts of a ns, an edition or the number of a line stand.
void file(Entry& entry, const TableKey& key, std::mt19937_64& random) {
    const std::uint32_t rests[] = {0, kGeneration, kGeneration + 1, kMaxOverrideGeneration};
    const std::uint8_t versions[] = {0, 1, 6, kOwnNumbers};
    const auto aggregation_level = static_cast<std::uint8_t>(random() % 4);
    entry.file({Instant{1h + Nanoseconds{random() % 1'000'000}}, rests[random() % 4]},
               key.slot_and_tag, {versions[random() % 4], aggregation_level});
}

TEST(BucketKinds, AreWhatEntriesSay) {
    std::mt19937_64 random{3};
    BucketTable table{4000};
    LimitRegistry registry{64};
    const std::array<SlotRow, kSlot + 1> rows = [] {
        std::array<SlotRow, kSlot + 1> all{};
        all[kSlot].limit = &kLimit;
        return all;
    }();
    registry.adopt(rows, 0, Instant{1h});
    std::vector<TableKey> keys;
    for (int i = 0; i < 3600; ++i) {
        keys.push_back(random_key(random));
        table.begin_burst();
        Entry* const entry = table.make_place(keys.back(), registry, {Instant{1h}, {}});
        ASSERT_NE(entry, nullptr);
        entry->file({Instant{2h}, 0}, keys.back().slot_and_tag, {});
        entry->release();
    }
    for (const TableKey& key : keys) {
        file(*table.find(key), key, random);
    }
    std::array<std::size_t, 4> seen{};
    for (int burst = 0; burst < 1000; ++burst) {
        std::vector<Lookup> lookups(random() % 33);
        std::array<Lookup*, 33> missed{};
        for (Lookup& lookup : lookups) {
            lookup.key = random() % 8 == 0 ? random_key(random) : keys[random() % keys.size()];
            lookup.entry = table.prefetch_first(lookup.key);
        }
        const BucketTable::Kinds kinds =
            BucketTable::find_kinds(std::span{lookups}, missed.data(), kGeneration);
        std::size_t misses = 0;
        for (std::size_t i = 0; i < lookups.size(); ++i) {
            const Entry* const found = table.in_first(lookups[i].key);
            const bool is_own = found != nullptr && found->stamp().version == kOwnNumbers;
            const bool is_ordinary =
                found != nullptr && !is_own && found->cell().rest == kGeneration;
            EXPECT_EQ(kinds.found >> i & 1, found != nullptr ? 1U : 0U);
            EXPECT_EQ(kinds.own >> i & 1, is_own ? 1U : 0U);
            EXPECT_EQ(kinds.ordinary >> i & 1, is_ordinary ? 1U : 0U);
            if (found == nullptr) {
                ASSERT_EQ(missed[misses++], &lookups[i]);
                ++seen[0];
                continue;
            }
            EXPECT_EQ(lookups[i].entry, found);
            EXPECT_EQ(found->own_bit(), is_own ? 1U : 0U);
            EXPECT_EQ(found->slot_and_tag_bit(lookups[i].key.slot_and_tag), 1U);
            EXPECT_EQ(found->slot_and_tag_bit(lookups[i].key.slot_and_tag ^ 1), 0U);
            EXPECT_EQ(found->unoverridden_bit(lookups[i].key.slot_and_tag, kGeneration),
                      is_ordinary ? 1U : 0U);
            ++seen[is_own ? 1 : is_ordinary ? 2 : 3];
        }
        const std::uint64_t beyond = ~std::uint64_t{0} << lookups.size();
        EXPECT_EQ((kinds.found | kinds.own | kinds.ordinary) & beyond, 0U);
        ASSERT_FALSE(HasFailure()) << burst;
    }
    for (const std::size_t count : seen) {
        EXPECT_GT(count, 500U);
    }
}

}  // namespace
}  // namespace sluice::bucket_kinds_test
