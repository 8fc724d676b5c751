#include "lib/policy/overrides/override_cache.hpp"

#include "lib/policy/compile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

// What is set at run time, one after the other: as if all of it were read anew each time.
namespace sluice::setting_rows_test {
namespace {

std::string rules(unsigned burst, const std::string& inline_rows) {
    return "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: [ip.src]\n"
           "    limits: [{algorithm: token_bucket, rate: 50/s, burst: " +
           std::to_string(burst) + "}]\n    overrides: {inline: [" + inline_rows +
           "]}\n  - {id: s, mode: enforce, key: [ip.dst, l4.dport], limits: [{algorithm: "
           "sliding_log, count: 9, window: 1m}]}\n";
}

struct Outcome {
    std::optional<CompiledRules> compiled;
    std::vector<std::string> told{};
};

Outcome compile(const std::string& text, const KeySettings& keys, OverrideCache* cache) {
    Problems problems{"rules"};
    Outcome outcome{
        compile_rules({.file = "rules", .text = text, .keys = &keys, .overrides = cache},
                      Purpose::Enforce, {}, problems)};
    for (const Problem& problem : problems.list()) {
        outcome.told.push_back(problem.message);
    }
    return outcome;
}

void expect_same(const KeyOverrides& kept, const KeyOverrides& anew) {
    EXPECT_EQ(kept.bytes, anew.bytes);
    ASSERT_EQ(kept.rows.size(), anew.rows.size());
    for (std::size_t row = 0; row < anew.rows.size(); ++row) {
        EXPECT_EQ(kept.rows[row].end, anew.rows[row].end);
        EXPECT_EQ(kept.rows[row].plan, anew.rows[row].plan);
    }
}

// The very table, number by number.
void expect_same(const Overrides& kept, const Overrides& anew) {
    ASSERT_EQ(kept.keys.size(), anew.keys.size());
    ASSERT_EQ(kept.networks.size(), anew.networks.size());
    for (std::size_t key = 0; key < anew.keys.size(); ++key) {
        expect_same(kept.keys[key], anew.keys[key]);
    }
    for (std::size_t key = 0; key < anew.networks.size(); ++key) {
        expect_same(kept.networks[key], anew.networks[key]);
    }
    ASSERT_EQ(kept.plans.size(), anew.plans.size());
    for (std::size_t i = 0; i < anew.plans.size(); ++i) {
        EXPECT_EQ(kept.plans[i].exempt, anew.plans[i].exempt);
        EXPECT_EQ(kept.plans[i].exempt_until, anew.plans[i].exempt_until);
        EXPECT_EQ(kept.plans[i].banned, anew.plans[i].banned);
        EXPECT_EQ(kept.plans[i].banned_until, anew.plans[i].banned_until);
        EXPECT_EQ(kept.plans[i].first, anew.plans[i].first);
        EXPECT_EQ(kept.plans[i].count, anew.plans[i].count);
    }
    ASSERT_EQ(kept.numbers.size(), anew.numbers.size());
    for (std::size_t i = 0; i < anew.numbers.size(); ++i) {
        EXPECT_EQ(kept.numbers[i].limit, anew.numbers[i].limit);
        EXPECT_EQ(kept.numbers[i].until, anew.numbers[i].until);
        EXPECT_EQ(kept.numbers[i].numbers, anew.numbers[i].numbers);
    }
}

void expect_same(const Outcome& kept, const Outcome& anew) {
    ASSERT_EQ(kept.compiled.has_value(), anew.compiled.has_value());
    EXPECT_EQ(kept.told, anew.told);
    for (std::size_t rule = 0; anew.compiled && rule < anew.compiled->set.rules.size(); ++rule) {
        const auto& one = kept.compiled->set.rules[rule].overrides;
        const auto& other = anew.compiled->set.rules[rule].overrides;
        ASSERT_EQ(one == nullptr, other == nullptr);
        if (other != nullptr) {
            expect_same(*one, *other);
        }
        EXPECT_EQ(kept.compiled->rules[rule].settings.size(),
                  anew.compiled->rules[rule].settings.size());
    }
}

class Operator {
public:
    explicit Operator(unsigned seed) : random_{seed} {}

    void change() {
        for (KeySetting& before : settings_) {
            before.is_new = false;
        }
        for (std::size_t changes = 1 + draw(3); changes > 0; --changes) {
            draw(3) == 0 && !settings_.empty() ? remove() : put();
        }
    }
    [[nodiscard]] const KeySettings& settings() const { return settings_; }
    std::size_t draw(std::size_t below) { return random_() % below; }

private:
    void remove() {
        settings_.erase(settings_.begin() + static_cast<std::ptrdiff_t>(draw(settings_.size())));
    }
    void put() {
        KeySetting next{.rule = draw(3) == 0 ? "s" : "r"};
        const std::string address = "10.0.0." + std::to_string(draw(90));
        next.what = static_cast<KeySetting::What>(draw(3));
        next.key = next.rule == "s" ? address + "|" + std::to_string(draw(2)) : address;
        if (next.rule == "r" && next.what == KeySetting::What::Banned && draw(4) == 0) {
            next.key = "10." + std::to_string(draw(9)) + ".0.0/16";
        }
        if (next.what == KeySetting::What::Numbers) {
            // Few have a limit that there is not.
            next.limit = draw(60) == 0 ? "2" : "1";
            (next.rule == "r" ? next.burst : next.count) = std::to_string(1 + draw(9));
        }
        next.until = draw(3) == 0 ? 4'000'000'000 + static_cast<std::int64_t>(draw(5)) : 0;
        next.is_new = draw(2) == 0;
        std::erase_if(settings_, [&](const KeySetting& before) {
            return before.rule == next.rule && before.key == next.key &&
                   (before.what == KeySetting::What::Banned) ==
                       (next.what == KeySetting::What::Banned);
        });
        settings_.push_back(next);
    }

    std::mt19937_64 random_;
    KeySettings settings_{};
};

TEST(SettingRows, OneAfterTheOtherIsAsAllOfThemAnew) {
    for (const unsigned seed : {1U, 2U, 3U}) {
        SCOPED_TRACE(seed);
        Operator someone{seed};
        OverrideCache cache;
        unsigned burst = 200;
        std::size_t tables = 0;
        for (int round = 0; round < 700 && !testing::Test::HasFailure(); ++round) {
            someone.change();
            burst = someone.draw(40) == 0 ? burst + 1 : burst;
            const std::string text = rules(
                burst, someone.draw(2) == 0 ? "" : "{key: 10.9.9.9, limits: {'1': {burst: 3}}}");
            const Outcome anew = compile(text, someone.settings(), nullptr);
            expect_same(compile(text, someone.settings(), &cache), anew);
            tables += anew.compiled ? 1 : 0;
        }
        EXPECT_GT(tables, 200U);
    }
}

// Each is read but once: of a great many this is what one more costs.
TEST(SettingRows, HoldNoMoreThanTheyHaveTo) {
    KeySettings settings{{.rule = "r", .key = "10.0.0.1", .what = KeySetting::What::Banned}};
    const Outcome outcome = compile(rules(200, ""), settings, nullptr);
    const Rule& rule = outcome.compiled->set.rules[0];
    SettingRows rows;
    for (int round = 0; round < 5'000; ++round) {
        settings.front().until = 4'000'000'000 + round;
        rows.follow(rule, settings, nullptr);
        ASSERT_EQ(rows.size(), 1U);
        ASSERT_EQ(rows.rows().rows.rows.size(), 1U);
        ASSERT_LT(rows.rows().rows.bytes.size(), 50'000U);
        ASSERT_LT(rows.rows().pieces.size(), 3'000U);
    }
}

// A row that fits the rule no more is read but once, too, and the others are not read again with
// it.
TEST(SettingRows, OneThatDoesNotFitCostsOnlyItself) {
    KeySettings settings;
    for (const char* key : {"10.0.0.1", "no address", "10.0.0.2"}) {
        settings.push_back({.rule = "r", .key = key, .what = KeySetting::What::Banned});
    }
    const Outcome outcome = compile(rules(200, ""), {}, nullptr);
    const Rule& rule = outcome.compiled->set.rules[0];
    SettingRows rows;
    rows.follow(rule, settings, nullptr);
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_FALSE(rows.fault(0));
    EXPECT_TRUE(rows.fault(1));
    EXPECT_FALSE(rows.fault(2));
    const auto lines = [&rows] {
        std::vector<std::uint32_t> all;
        for (const OverrideRows::Row& row : rows.rows().rows.rows) {
            all.push_back(row.place.line);
        }
        std::sort(all.begin(), all.end());
        return all;
    };
    EXPECT_EQ(lines(), (std::vector<std::uint32_t>{0, 2}));
    settings.push_back({.rule = "r", .key = "10.0.0.3", .what = KeySetting::What::Banned});
    rows.follow(rule, settings, nullptr);
    // Numbers are given out as settings are read.
    EXPECT_EQ(lines(), (std::vector<std::uint32_t>{0, 2, 3}));
    EXPECT_TRUE(rows.fault(1));
    settings.erase(settings.begin() + 1);
    rows.follow(rule, settings, nullptr);
    EXPECT_EQ(lines(), (std::vector<std::uint32_t>{0, 2, 3}));
    EXPECT_FALSE(rows.fault(1));
}

std::string grouped_by(const std::string& key) {
    return "version: 1\nrules:\n  - {id: r, mode: enforce, key: [" + key +
           "], limits: [{algorithm: token_bucket, rate: 5/s, burst: 9}]}\n";
}

// 10.0.0.1 as a source is no network around it and no destination: whoever else would bear the
// name is left alone, until the rule has the key of before.
TEST(SettingRows, AreOfTheKeysThatTheyWereSetFor) {
    KeySettings settings;
    for (const char* key : {"10.0.0.1", "10.0.0.2"}) {
        settings.push_back(
            {.rule = "r", .key = key, .what = KeySetting::What::Banned, .of = "ip.src"});
    }
    const auto rows_of = [&](const std::string& key, OverrideCache* cache, std::string& told) {
        const Outcome outcome = compile(grouped_by(key), settings, cache);
        EXPECT_TRUE(outcome.compiled);
        told = outcome.told.empty() ? "" : outcome.told.front();
        const auto& table = outcome.compiled->set.rules[0].overrides;
        return table == nullptr ? 0U : table->keys[0].rows.size();
    };
    OverrideCache kept;
    for (OverrideCache* cache : {&kept, static_cast<OverrideCache*>(nullptr)}) {
        std::string told;
        EXPECT_EQ(rows_of("ip.src", cache, told), 2U);
        EXPECT_EQ(told, "");
        EXPECT_EQ(rows_of("'prefix(ip.src, 24|64)'", cache, told), 0U);
        EXPECT_EQ(told,
                  "settings of 2 keys do not fit the rule any more, and have no effect; the first "
                  "is 10.0.0.1: it was set for a key ip.src, and the rule's is "
                  "prefix(ip.src, 24|64)");
        EXPECT_EQ(rows_of("ip.dst", cache, told), 0U);
        EXPECT_EQ(rows_of("ip.src", cache, told), 2U) << "it holds again";
    }
    settings.front().is_new = true;
    EXPECT_FALSE(compile(grouped_by("ip.dst"), settings, nullptr).compiled) << "set now";
}

}  // namespace
}  // namespace sluice::setting_rows_test
