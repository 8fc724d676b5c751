#include "lib/match/packed_record.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace sluice::packed_record_test {
namespace {

using Steps = std::vector<Step<Wide>>;

// A record as it stands in a line, between others.
class Line {
public:
    Line(const PackedRecord& record, std::size_t in_line, std::size_t entries)
        : in_line_{in_line}, entries_{static_cast<unsigned>(entries)} {
        words_.fill(0x0123'4567'89AB'CDEF);
        record.write(&words_[in_line], entries);
    }
    [[nodiscard]] std::uint32_t find(Wide key, unsigned bits) const {
        const std::uint64_t* record = &words_[in_line_];
        const std::uint32_t value =
            PackedRecord::find(record, in_line_, entries_, PackedRecord::rest_of(key, bits));
        return value <= PackedRecord::kMaxValue
                   ? value
                   : PackedRecord::find_in_tail(record, entries_, value, key);
    }

private:
    alignas(64) std::array<std::uint64_t, PackedRecord::kWords> words_;
    std::size_t in_line_;
    unsigned entries_;
};

std::uint32_t value_by_halving(const Steps& steps, Wide key) {
    const auto next =
        std::upper_bound(steps.begin(), steps.end(), key,
                         [](Wide wanted, const auto& step) { return wanted < step.first; });
    return std::prev(next)->row;
}

// Wherever in a line it fits, and with entries to spare.
void expect_values(const Steps& steps, Wide first, unsigned bits, const PackedRecord& record) {
    const Wide last = first | ((Wide{1} << bits) - 1);
    const std::size_t tails = record.tails() * PackedRecord::kTailWords;
    std::vector<Wide> keys{first, last};
    for (const Step<Wide>& step : steps) {
        for (const Wide key : {step.first - 1, step.first, step.first + 1}) {
            keys.push_back(std::clamp(key, first, last));
        }
    }
    for (std::size_t entries = record.entries(); entries + tails <= PackedRecord::kWords;
         ++entries) {
        for (std::size_t at = 0; at + entries + tails <= PackedRecord::kWords; ++at) {
            const Line line{record, at, entries};
            for (const Wide key : keys) {
                ASSERT_EQ(line.find(key, bits), value_by_halving(steps, key))
                    << entries << " entries at " << at;
            }
        }
    }
}

// Of a slot of 2^bits keys: the first step where it begins, the others inside.
Steps random_steps(Wide first, unsigned bits, std::size_t count, std::mt19937_64& random) {
    Steps steps{{first, static_cast<std::uint32_t>(random() % 4)}};
    std::vector<Wide> inside;
    for (std::size_t i = 0; i < count; ++i) {
        const Wide any = (Wide{random()} << 64 | random()) & ((Wide{1} << bits) - 1);
        const unsigned fine = bits > 56 && random() % 4 != 0 ? bits - 56 : 0;
        const Wide near = inside.empty() || random() % 4 != 0 ? any : inside.back() + random() % 3;
        inside.push_back((near >> fine << fine) & ((Wide{1} << bits) - 1));
    }
    std::sort(inside.begin(), inside.end());
    for (const Wide place : inside) {
        if (first + place != steps.back().first) {
            steps.push_back({first + place, static_cast<std::uint32_t>(random() % 254)});
        }
    }
    return steps;
}

TEST(PackedRecord, WhatItTakesItTellsAsHalvingDoes) {
    std::mt19937_64 random{1};
    std::size_t taken = 0;
    for (int round = 0; round < 20'000; ++round) {
        const auto bits = 1 + static_cast<unsigned>(random() % 112);
        const Wide first = (Wide{random()} << 64 | random()) >> bits << bits;
        const Steps steps = random_steps(first, bits, random() % 8, random);
        const auto record = PackedRecord::make(steps, first | ((Wide{1} << bits) - 1), bits);
        if (record) {
            ++taken;
            expect_values(steps, first, bits, *record);
        }
    }
    EXPECT_GT(taken, 10'000U);
}

TEST(PackedRecord, OneOrNoStepIsOneOrTwoEntries) {
    const Wide first = Wide{5} << 100;
    const Wide last = first | ((Wide{1} << 100) - 1);
    const auto none = PackedRecord::make(Steps{{first, 3}}, last, 100);
    EXPECT_EQ(none->entries(), 1U);
    EXPECT_EQ(PackedRecord::of_value(3).entries(), 1U);
    EXPECT_EQ(Line(PackedRecord::of_value(3), 0, 1).find(first, 100), 3U);
    // Around a network the value is the same, which takes no entry.
    const Wide network = first + (Wide{1} << 80);
    const Wide end = network + (Wide{1} << 80);
    EXPECT_EQ(PackedRecord::make(Steps{{0, 3}, {network, 1}, {end, 3}}, last, 100)->entries(), 2U);
    EXPECT_EQ(PackedRecord::make(Steps{{0, 3}, {network, 1}, {end, 2}}, last, 100)->entries(), 3U);
}

TEST(PackedRecord, ASingleAddressIsATailAndAThirdIsTooMany) {
    Steps steps{{0, 3}};
    for (std::uint32_t i = 1; i <= 3; ++i) {
        const Wide address = (Wide{i} << 100) + 77;
        steps.push_back({address, i});
        steps.push_back({address + 1, 3});
        const auto record = PackedRecord::make(steps, (Wide{1} << 110) - 1, 110);
        ASSERT_EQ(record.has_value(), i <= PackedRecord::kMostTails);
        if (record) {
            EXPECT_EQ(record->tails(), i);
            EXPECT_EQ(record->entries(), 2 * i);
        }
    }
}

TEST(PackedRecord, WhatIsFinerThanATailIsRefused) {
    const Wide last = (Wide{1} << 113) - 1;
    EXPECT_FALSE(PackedRecord::make(Steps{{0, 3}, {77, 1}}, last, 113).has_value());
    EXPECT_TRUE(PackedRecord::make(Steps{{0, 3}, {Wide{77} << 57, 1}}, last, 113).has_value());
    EXPECT_TRUE(PackedRecord::make(Steps{{0, 3}, {77, 1}}, last >> 1, 112).has_value());
    // Three steps between two bounds.
    EXPECT_FALSE(
        PackedRecord::make(Steps{{0, 3}, {77, 1}, {79, 2}, {80, 3}}, last >> 1, 112).has_value());
}

}  // namespace
}  // namespace sluice::packed_record_test
