#include "lib/match/packed_record.hpp"

#include "tests/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <vector>

namespace sluice::packed_record_test {
namespace {

using Steps = std::vector<Step<Wide>>;

constexpr std::uint32_t kAround = 3;

// A record as it stands in a line, between others.
class Line {
public:
    Line(const PackedRecord& record, std::size_t in_line, std::size_t entries)
        : in_line_{in_line}, entries_{static_cast<unsigned>(entries)} {
        words_.fill(0x0123'4567'89AB'CDEF);
        record.write(&words_[in_line], entries);
    }
    [[nodiscard]] std::uint32_t find(Wide key, unsigned bits) const {
        const PackedRecord::Found found =
            PackedRecord::find(words_.data(), in_line_, entries_, PackedRecord::rest_of(key, bits),
                               PackedRecord::code_of(kAround));
        return found.is_in_tail()
                   ? PackedRecord::find_in_tail(&words_[in_line_], entries_, found, key, kAround)
                   : found.value();
    }

private:
    alignas(64) std::array<std::uint64_t, PackedRecord::kWords> words_;
    std::size_t in_line_;
    unsigned entries_;
};

// The keys of a slot of 2^bits from here.
PackedRecord::Range slot(Wide first, unsigned bits) {
    return {first, first | ((Wide{1} << bits) - 1), bits};
}

std::uint32_t value_by_halving(const Steps& steps, Wide key) {
    const auto next =
        std::upper_bound(steps.begin(), steps.end(), key,
                         [](Wide wanted, const auto& step) { return wanted < step.first; });
    return std::prev(next)->row;
}

// Wherever in a line it fits, and with entries to spare.
void expect_values(const Steps& steps, const PackedRecord::Range& range,
                   const PackedRecord& record) {
    std::vector<Wide> keys{range.first, range.last};
    for (const Step<Wide>& step : steps) {
        for (const Wide key : {step.first - 1, step.first, step.first + 1}) {
            keys.push_back(std::clamp(key, range.first, range.last));
        }
    }
    for (std::size_t entries = record.entries(); entries + record.tail() <= PackedRecord::kWords;
         ++entries) {
        for (std::size_t at = 0; at + entries + record.tail() <= PackedRecord::kWords; ++at) {
            const Line line{record, at, entries};
            for (const Wide key : keys) {
                ASSERT_EQ(line.find(key, range.slot_bits), value_by_halving(steps, key))
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
            steps.push_back({first + place, static_cast<std::uint32_t>(random() % 256)});
        }
    }
    return steps;
}

TEST(PackedRecord, WhatItTakesItTellsAsHalvingDoes) {
    std::mt19937_64 random{1};
    std::size_t taken = 0;
    const int rounds = test::rounds(20'000);
    for (int round = 0; round < rounds; ++round) {
        const auto bits = 1 + static_cast<unsigned>(random() % 112);
        const Wide first = (Wide{random()} << 64 | random()) >> bits << bits;
        const Steps steps = random_steps(first, bits, random() % 8, random);
        if (const auto record = PackedRecord::make(steps, slot(first, bits), kAround)) {
            ++taken;
            expect_values(steps, slot(first, bits), *record);
        }
    }
    EXPECT_GT(taken, static_cast<std::size_t>(rounds) / 2);
}

// Networks of any size, in one another and side by side, also in a part of a slot.
TEST(PackedRecord, NetworksItTakesItTellsAsHalvingDoes) {
    std::mt19937_64 random{2};
    std::size_t taken = 0;
    const int rounds = test::rounds(20'000);
    for (int round = 0; round < rounds; ++round) {
        const auto bits = 50 + static_cast<unsigned>(random() % 63);
        const Wide first = (Wide{random()} << 64 | random()) >> bits << bits;
        const unsigned part = bits - static_cast<unsigned>(random() % 7);
        std::map<Wide, std::uint32_t> map{{first, kAround}};
        for (std::size_t i = 0; i < 1 + random() % 4; ++i) {
            const Wide any = (Wide{random()} << 64 | random()) & ((Wide{1} << part) - 1);
            const auto size = random() % part;
            const Wide network = first | any >> size << size;
            const Wide end = network + (Wide{1} << size);
            const std::uint32_t behind = std::prev(map.upper_bound(end))->second;
            map.erase(map.lower_bound(network), map.lower_bound(end));
            map[network] = static_cast<std::uint32_t>(random() % 256);
            if (end - first < Wide{1} << part) {
                map.emplace(end, behind);
            }
        }
        Steps steps;
        for (const auto& [begin, row] : map) {
            steps.push_back({begin, row});
        }
        const PackedRecord::Range range{first, first | ((Wide{1} << part) - 1), bits};
        if (const auto record = PackedRecord::make(steps, range, kAround)) {
            ++taken;
            expect_values(steps, range, *record);
        }
    }
    EXPECT_GT(taken, static_cast<std::size_t>(rounds) / 2);
}

TEST(PackedRecord, ANetworkIsOneEntry) {
    const auto range = slot(Wide{5} << 100, 100);
    const Wide network = range.first + (Wide{1} << 80);
    const Wide end = network + (Wide{1} << 80);
    const auto entries = [&](const Steps& steps) {
        const auto record = PackedRecord::make(steps, range, kAround);
        return record ? record->entries() : 0;
    };
    EXPECT_EQ(entries({{range.first, kAround}}), 1U);
    EXPECT_EQ(entries({{0, kAround}, {network, 1}, {end, kAround}}), 1U);
    EXPECT_EQ(entries({{0, kAround}, {network, 1}, {end, 2}}), 3U);  // endless, as the last is
    EXPECT_EQ(entries({{0, 1}, {network, kAround}, {end, 2}}), 2U);
    EXPECT_EQ(PackedRecord::of_value(7).entries(), 1U);
    EXPECT_EQ(Line(PackedRecord::of_value(7), 0, 1).find(network, 100), 7U);
}

TEST(PackedRecord, ASingleAddressIsAWordMoreAndAFifthIsTooMany) {
    Steps steps{{0, kAround}};
    for (std::uint32_t i = 1; i <= 5; ++i) {
        const Wide address = (Wide{i} << 100) + 77;
        steps.push_back({address, i + 10});
        steps.push_back({address + 1, kAround});
        const auto record = PackedRecord::make(steps, slot(0, 110), kAround);
        ASSERT_EQ(record.has_value(), i <= PackedRecord::kWords / 2);
        if (record) {
            EXPECT_EQ(record->tail(), i);
            EXPECT_EQ(record->entries(), i);
            expect_values(steps, slot(0, 110), *record);
        }
    }
}

TEST(PackedRecord, WhatIsFinerThanATailIsRefused) {
    const Steps address{{0, kAround}, {77, 1}, {78, kAround}};
    EXPECT_FALSE(PackedRecord::make(address, slot(0, 113), kAround).has_value());
    EXPECT_TRUE(PackedRecord::make(address, slot(0, 112), kAround).has_value());
    EXPECT_TRUE(PackedRecord::make(Steps{{0, kAround}, {Wide{77} << 63, 1}}, slot(0, 113), kAround)
                    .has_value());
    const Steps no_network{{0, kAround}, {77, 1}, {79, kAround}};
    EXPECT_FALSE(PackedRecord::make(no_network, slot(0, 112), kAround).has_value());
    const Steps three{{0, kAround}, {77, 1}, {78, 2}, {79, kAround}};
    EXPECT_FALSE(PackedRecord::make(three, slot(0, 112), kAround).has_value());
}

// Within a network of another value: that is one word more.
TEST(PackedRecord, AnAddressWithinANetworkAgrees) {
    const Wide network = Wide{9} << 70;
    const Wide end = Wide{10} << 70;
    const Steps steps{
        {0, kAround}, {network, 1}, {network + 77, 2}, {network + 78, 1}, {end, kAround}};
    const auto record = PackedRecord::make(steps, slot(0, 107), kAround);
    ASSERT_TRUE(record.has_value());
    EXPECT_EQ(record->tail(), 2U);
    expect_values(steps, slot(0, 107), *record);
}

}  // namespace
}  // namespace sluice::packed_record_test
