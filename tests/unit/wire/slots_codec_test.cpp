#include "lib/wire/slots_codec.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sluice::slots_codec_test {
namespace {

TokenBucketLimit token(std::uint64_t burst) {
    return {*Limit::make({Units{1}, std::chrono::seconds{1}}, Units{burst})};
}

KeptSlots example() {
    LoadedLimit limit{{.identity = 7, .name = {}, .limit = token(5)}};
    limit.coarser = {token(50), token(500)};
    limit.slot = 3;
    limit.version = 2;
    limit.overridden = true;
    limit.previous = {{.limit = token(4), .coarser = {token(40)}, .version = 1, .change = 9}};
    limit.most_used = {Units{50}, Units{500}};
    limit.shared = 1;
    limit.rss_mapping = 77;
    limit.migrating_to = Combine::Most;
    limit.migrated_from = {{.slot = 9, .combine = Combine::Most}, {.slot = 4}};
    LoadedLimit moved{{.identity = 7, .name = {}, .limit = token(6)}};
    moved.slot = 9;
    LoadedLimit earlier = moved;
    earlier.slot = 4;
    return {.region = 42, .slots = {.changes = 73, .limits = {limit}, .moved = {moved, earlier}}};
}

TEST(SlotsCodec, GivesBackWhatWasKept) {
    const auto bytes = encode(example());
    const Result<KeptSlots> kept = decode_slots(bytes);
    ASSERT_TRUE(kept.has_value());
    EXPECT_EQ(encode(*kept), bytes);
    EXPECT_EQ(kept->region, 42U);
    EXPECT_EQ(kept->slots.limits[0].slot, 3);
    EXPECT_EQ(kept->slots.limits[0].previous[0].change, 9);
    EXPECT_EQ(kept->slots.limits[0].limit, AnyLimit{token(5)});
    EXPECT_EQ(kept->slots.limits[0].most_used, example().slots.limits[0].most_used);
    EXPECT_EQ(kept->slots.limits[0].rss_mapping, 77U);
    EXPECT_EQ(kept->slots.limits[0].migrating_to, Combine::Most);
    EXPECT_EQ(kept->slots.limits[0].migrated_from, example().slots.limits[0].migrated_from);
    EXPECT_EQ(kept->slots.moved[1].slot, 4);
}

TEST(SlotsCodec, RefusesFormerSlotsThatNobodyKept) {
    KeptSlots lost = example();
    lost.slots.moved.pop_back();
    EXPECT_FALSE(decode_slots(encode(lost)).has_value());
}

// A former slot's own former slots are checked too.
TEST(SlotsCodec, RefusesFormerSlotsOfAFormerSlotThatNobodyKept) {
    KeptSlots wild = example();
    wild.slots.moved[0].migrated_from = {{.slot = 65'000, .combine = Combine::Sum}};
    EXPECT_FALSE(decode_slots(encode(wild)).has_value());
    KeptSlots itself = example();
    itself.slots.moved[0].migrated_from = {{.slot = itself.slots.moved[0].slot}};
    EXPECT_FALSE(decode_slots(encode(itself)).has_value());
    KeptSlots kept = example();
    kept.slots.moved[0].migrated_from = {{.slot = 4}};
    EXPECT_TRUE(decode_slots(encode(kept)).has_value());
}

TEST(SlotsCodec, RefusesSlotsThatAreGivenTwiceOrCannotBe) {
    KeptSlots twice = example();
    twice.slots.limits.push_back(twice.slots.limits[0]);
    twice.slots.limits[1].identity = 8;
    EXPECT_FALSE(decode_slots(encode(twice)).has_value());
    KeptSlots none = example();
    none.slots.limits[0].slot = 0;
    EXPECT_FALSE(decode_slots(encode(none)).has_value());
    KeptSlots version = example();
    version.slots.limits[0].version = kNumberVersions;
    EXPECT_FALSE(decode_slots(encode(version)).has_value());
}

TEST(SlotsCodec, WhateverIsCutOrChangedIsRefusedOrSound) {
    const auto bytes = encode(example());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(decode_slots(ByteView{bytes}.first(size)).has_value()) << size;
    }
    std::mt19937 random{5};
    for (int round = 0; round < 20'000; ++round) {
        auto changed = bytes;
        for (int i = 0; i < 3; ++i) {
            changed[random() % changed.size()] = static_cast<std::byte>(random());
        }
        const Result<KeptSlots> kept = decode_slots(changed);
        EXPECT_TRUE(!kept || (kept->slots.is_sound() && encode(*kept) == changed));
    }
}

// The next process gives every limit the slot and version that its entries have.
TEST(SlotsCodec, LimitsKeepTheirSlotsOverARestart) {
    const TableView view{[](LimitSlot) { return std::uint64_t{1}; },
                         [] { return std::uint64_t{0}; }};
    LoadedSet set;
    LoadedRule rule;
    rule.id = "r";
    for (std::uint64_t identity : {11, 12, 13}) {
        rule.limits.push_back({{.identity = identity, .name = {}, .limit = token(identity)}});
    }
    set.rules = {rule};
    LimitSlots first;
    ASSERT_TRUE(first.assign(set, view, {}).has_value());
    set.rules[0].limits[1].limit = token(99);
    set.rules[0].limits.erase(set.rules[0].limits.begin());
    ASSERT_TRUE(first.assign(set, view, {.forgives = Forgives::Excess}).has_value());
    const auto before = set.rules[0].limits;
    ASSERT_EQ(before[0].previous.size(), 1U);
    EXPECT_TRUE(before[0].previous[0].forgiven);

    LimitSlots second{decode_slots(encode({1, first.image()}))->slots};
    ASSERT_TRUE(second.assign(set, view, {}).has_value());
    for (std::size_t i = 0; i < before.size(); ++i) {
        EXPECT_EQ(set.rules[0].limits[i].slot, before[i].slot);
        EXPECT_EQ(set.rules[0].limits[i].version, before[i].version);
        ASSERT_EQ(set.rules[0].limits[i].previous.size(), before[i].previous.size());
        EXPECT_EQ(set.rules[0].limits[i].forgiven, before[i].forgiven);
        for (std::size_t at = 0; at < before[i].previous.size(); ++at) {
            EXPECT_EQ(set.rules[0].limits[i].previous[at].forgiven,
                      before[i].previous[at].forgiven);
        }
    }
    ASSERT_EQ(set.gone.size(), 1U);
    EXPECT_EQ(set.gone[0].identity, 11U);
    // A limit that comes anew gets none of theirs.
    set.rules[0].limits.push_back({{.identity = 14, .name = {}, .limit = token(1)}});
    ASSERT_TRUE(second.assign(set, view, {}).has_value());
    EXPECT_GT(set.rules[0].limits.back().slot, 3);
}

}  // namespace
}  // namespace sluice::slots_codec_test
