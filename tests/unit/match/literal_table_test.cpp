#include "lib/match/literal_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

namespace sluice::literal_table_test {
namespace {

std::string lowered(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    return text;
}

bool holds(const TextEntry& entry, std::string text) {
    std::string asked = entry.text;
    if (entry.ignore_case) {
        text = lowered(text);
        asked = lowered(asked);
    }
    return entry.how == TextHow::Equals       ? text == asked
           : entry.how == TextHow::StartsWith ? text.starts_with(asked)
                                              : text.ends_with(asked);
}

std::string random_text(std::mt19937& random, std::size_t most) {
    constexpr char kBytes[] = {'a', 'a', 'b', 'A', '\xff', '\0'};
    std::string text;
    for (std::size_t left = random() % (most + 1); left > 0; --left) {
        text += kBytes[random() % std::size(kBytes)];
    }
    return text;
}

// Against comparing one after the other.
TEST(LiteralTable, FindsWhatALineOfComparisonsFinds) {
    std::size_t found = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::mt19937 random{seed};
        std::vector<TextEntry> entries;
        for (std::size_t left = 1 + random() % 40; left > 0; --left) {
            entries.push_back({TextField::Payload, static_cast<TextHow>(random() % 3),
                               random() % 2 == 0, random_text(random, 6)});
        }
        for (int i = 0; i < 20; ++i) {
            const std::string text = random_text(random, 8);
            std::multiset<std::uint32_t> got;
            for (const TextHow how : {TextHow::Equals, TextHow::StartsWith, TextHow::EndsWith}) {
                for (const bool ignore_case : {false, true}) {
                    LiteralTable{entries, TextField::Payload, how, ignore_case}.find(
                        bytes_of(text), [&](std::uint32_t entry) { got.insert(entry); });
                }
            }
            std::multiset<std::uint32_t> want;
            for (std::uint32_t entry = 0; entry < entries.size(); ++entry) {
                if (holds(entries[entry], text)) {
                    want.insert(entry);
                }
            }
            ASSERT_EQ(got, want) << "seed " << seed;
            found += want.size();
        }
    }
    EXPECT_GT(found, 10'000U);
}

}  // namespace
}  // namespace sluice::literal_table_test
