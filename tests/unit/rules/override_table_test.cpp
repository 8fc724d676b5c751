#include "lib/rules/override_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace sluice::override_table_test {
namespace {

constexpr HashSecret kSecret{3, 4};

Overrides overrides_of(const std::map<std::string, std::uint32_t>& keys) {
    Overrides all;
    all.plans.resize(7);
    all.keys.resize(1);
    for (const auto& [key, plan] : keys) {
        const ByteView bytes = bytes_of(key);
        all.keys[0].bytes.insert(all.keys[0].bytes.end(), bytes.begin(), bytes.end());
        all.keys[0].rows.push_back({static_cast<std::uint32_t>(all.keys[0].bytes.size()), plan});
    }
    return all;
}

TEST(OverrideTable, AgreesWithAMap) {
    std::mt19937_64 random{5};
    for (const int size : {0, 1, 2, 7, 100, 5000}) {
        std::map<std::string, std::uint32_t> keys;
        for (int i = 0; i < size; ++i) {
            std::string key(1 + random() % 40, '\0');
            for (char& c : key) {
                c = static_cast<char>(random());
            }
            keys[key] = static_cast<std::uint32_t>(random() % 7);
        }
        const Overrides all = overrides_of(keys);
        const OverrideTable table{all.keys[0], all, kSecret};
        const KeyHasher hash{kSecret};
        const auto find = [&](const std::string& key) {
            return table.find(hash.digest(bytes_of(key)), [&] { return bytes_of(key); });
        };
        for (const auto& [key, plan] : keys) {
            ASSERT_EQ(find(key), &all.plans[plan]);
        }
        for (int i = 0; i < 10'000; ++i) {
            const std::string key = "stranger " + std::to_string(i);
            ASSERT_EQ(find(key), nullptr);
        }
    }
}

// Whose digest is that of an exempt key, but whose bytes are others, is not exempt.
TEST(OverrideTable, AMeetingOfDigestsIsNotEnough) {
    const Overrides all = overrides_of({{"exempt", 3}});
    const OverrideTable table{all.keys[0], all, kSecret};
    const std::uint64_t digest = KeyHasher{kSecret}.digest(bytes_of("exempt"));
    EXPECT_EQ(table.find(digest, [] { return bytes_of("exempt"); }), &all.plans[3]);
    EXPECT_EQ(table.find(digest, [] { return bytes_of("stranger"); }), nullptr);
    bool asked = false;
    const auto ask = [&] {
        asked = true;
        return bytes_of("stranger");
    };
    EXPECT_EQ(table.find(digest + 1, ask), nullptr);
    EXPECT_FALSE(asked) << "nobody else's bytes are hashed twice";
}

// Of each plan what is said in short, and who is told from whom by the name.
TEST(OverrideTable, SaysInShortWhatIsSimple) {
    Overrides all = overrides_of({{"exempt", 0}, {"until", 1}, {"numbers", 2}, {"banned", 3}});
    const Limit limit = *Limit::make({Units{7}, std::chrono::seconds{1}}, Units{9});
    all.numbers.push_back({.limit = 0, .numbers = TokenBucketLimit{limit}});
    all.plans[0].exempt = true;
    all.plans[1] = {.exempt = true, .exempt_until = Nanoseconds{5}};
    all.plans[2] = {.first = 0, .count = 1};
    all.plans[3].banned = true;
    using Kind = OverrideTable::Kind;
    const auto brief = [](const OverrideTable& table, const char* key) {
        return table.brief(KeyHasher{kSecret}.digest(bytes_of(key)), [&] { return bytes_of(key); });
    };
    const OverrideTable table{all.keys[0], all, kSecret};
    EXPECT_EQ(brief(table, "exempt").kind, Kind::Exempt);
    EXPECT_EQ(brief(table, "until").kind, Kind::Other);
    EXPECT_EQ(brief(table, "numbers").kind, Kind::Numbers);
    EXPECT_EQ(brief(table, "banned").kind, Kind::Other);
    EXPECT_EQ(brief(table, "stranger").kind, Kind::None);
    EXPECT_EQ(std::get<TokenBucketLimit>(table.numbers_of(brief(table, "numbers")).numbers).gcra,
              limit);

    EXPECT_NE(table.name(), 0U);
    EXPECT_EQ(table.name(), (OverrideTable{all.keys[0], all, kSecret}.name()));
    Overrides other = all;
    other.numbers[0].numbers =
        TokenBucketLimit{*Limit::make({Units{7}, std::chrono::seconds{1}}, Units{10})};
    EXPECT_NE(table.name(), (OverrideTable{other.keys[0], other, kSecret}.name()));
    other = all;
    other.keys[0].rows[1].plan = 5;
    EXPECT_NE(table.name(), (OverrideTable{other.keys[0], other, kSecret}.name()));
    other = all;
    other.plans[0].exempt = false;
    EXPECT_NE(table.name(), (OverrideTable{other.keys[0], other, kSecret}.name()));
}

}  // namespace
}  // namespace sluice::override_table_test
