#include "lib/policy/overrides/override_cache.hpp"

#include "lib/policy/compile.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <set>
#include <string>

namespace sluice::override_cache_test {
namespace {

constexpr const char* kHeader = "key,limit,rate,burst,count,expires,reason\n";

std::string rules(unsigned burst, const std::string& inline_rows) {
    return "version: 1\nrules:\n  - id: r\n    mode: enforce\n    key: [ip.src]\n"
           "    limits: [{algorithm: token_bucket, rate: 50/s, burst: " +
           std::to_string(burst) + "}]\n    overrides: {file: o.csv, inline: [" + inline_rows +
           "]}\n";
}

std::optional<CompiledRules> compile(const std::string& text, const OverrideCache::Text& csv,
                                     const KeySettings& keys, OverrideCache* cache) {
    Problems problems{"rules"};
    const ListReader files = [&](const std::string&) -> Result<ListFile> {
        return ListFile{"/etc/o.csv", csv};
    };
    return compile_rules(
        {.file = "rules", .text = text, .lists = &files, .keys = &keys, .overrides = cache},
        Purpose::Enforce, {}, problems);
}

// Key by key, what it meets.
std::string spelled(const CompiledRules& compiled) {
    const Overrides& all = *compiled.set.rules[0].overrides;
    std::string text = compiled.rules[0].settings.back().value + "\n";
    const KeyOverrides& keys = all.keys[0];
    for (std::size_t row = 0; row < keys.rows.size(); ++row) {
        const ByteView key = keys.key(row);
        text.append(reinterpret_cast<const char*>(key.data()), key.size());
        const OverridePlan& plan = all.plans[keys.rows[row].plan];
        text += plan.exempt ? " exempt" : plan.banned ? " banned" : "";
        for (const LimitOverride& one : all.numbers_of(plan)) {
            const Limit& limit = std::get<TokenBucketLimit>(one.numbers).gcra;
            text += " " + std::to_string(limit.burst()) + "/" + std::to_string(limit.period()) +
                    " until " + std::to_string(one.until.count());
        }
        text += "\n";
    }
    return text;
}

std::string address(std::mt19937_64& random) {
    return "10.0.0." + std::to_string(random() % 60);
}

std::string random_csv(std::mt19937_64& random) {
    std::string csv = kHeader;
    std::set<std::string> keys;
    for (std::size_t i = 0; i < random() % 30; ++i) {
        const std::string key = address(random);
        if (keys.insert(key).second) {
            csv += key + (random() % 4 == 0 ? ",exempt,,,,,\n"
                                            : ",1,," + std::to_string(1 + random() % 9) + ",,,\n");
        }
    }
    return csv;
}

KeySettings random_settings(std::mt19937_64& random) {
    KeySettings settings;
    for (std::size_t i = 0; i < random() % 5; ++i) {
        KeySetting one{.rule = "r", .key = address(random)};
        one.what = static_cast<KeySetting::What>(random() % 3);
        if (one.what == KeySetting::What::Numbers) {
            one.limit = "1";
            one.burst = std::to_string(10 + random() % 9);
        }
        settings.push_back(one);
    }
    return settings;
}

// The oracle reads everything anew each time.
TEST(OverrideCache, WhatIsKeptIsWhatIsReadAnew) {
    std::mt19937_64 random{11};
    OverrideCache cache;
    auto csv = std::make_shared<const std::string>(random_csv(random));
    unsigned burst = 200;
    int compiled = 0;
    for (int round = 0; round < 400; ++round) {
        if (random() % 8 == 0) {
            csv = std::make_shared<const std::string>(random_csv(random));
        }
        burst = random() % 8 == 0 ? 100 + static_cast<unsigned>(random() % 100) : burst;
        // Beyond the addresses of the file: the same key twice is an error.
        const std::string inline_rows =
            random() % 2 == 0 ? "" : "{key: 10.0.1.1, limits: {'1': {burst: 3}}}";
        const KeySettings settings = random_settings(random);
        const auto kept = compile(rules(burst, inline_rows), csv, settings, &cache);
        const auto anew = compile(rules(burst, inline_rows), csv, settings, nullptr);
        ASSERT_EQ(kept.has_value(), anew.has_value());
        if (kept && anew->set.rules[0].overrides != nullptr) {
            ++compiled;
            ASSERT_EQ(spelled(*kept), spelled(*anew));
        }
    }
    EXPECT_GT(compiled, 200);
}

TEST(OverrideCache, KnowsATextByWhatItSaysAndARuleByItsShape) {
    OverrideCache cache;
    const auto csv = [](const std::string& burst) {
        return std::make_shared<const std::string>(std::string{kHeader} + "10.0.0.1,1,," + burst +
                                                   ",,,\n");
    };
    const auto compiled = compile(rules(200, ""), csv("7"), {}, &cache);
    ASSERT_TRUE(compiled);
    Rule rule = compiled->set.rules[0];
    EXPECT_NE(cache.find(rule, csv("7")), nullptr);
    EXPECT_EQ(cache.find(rule, csv("8")), nullptr);
    const auto other = compile(rules(201, ""), csv("7"), {}, nullptr);
    EXPECT_EQ(cache.find(other->set.rules[0], csv("7")), nullptr);
    rule.id = "other";
    EXPECT_EQ(cache.find(rule, csv("7")), nullptr);
}

// A cache of drafts reads what the set in force has, and leaves it there.
TEST(OverrideCache, ADraftTakesNothingFromTheSetInForce) {
    const auto csv =
        std::make_shared<const std::string>(std::string{kHeader} + "10.0.0.1,1,,7,,,\n");
    const KeySettings settings{{.rule = "r", .key = "10.0.0.2"}};
    OverrideCache cache;
    const auto compiled = compile(rules(200, ""), csv, settings, &cache);
    ASSERT_TRUE(compiled);
    const Rule& rule = compiled->set.rules[0];
    const OverrideCache::Rows rows = cache.find(rule, csv);
    ASSERT_NE(rows, nullptr);
    OverrideCache drafts{cache};
    for (const unsigned burst : {200U, 201U, 202U}) {
        const auto draft = compile(rules(burst, ""), csv, settings, &drafts);
        ASSERT_TRUE(draft);
        EXPECT_NE(drafts.find(draft->set.rules[0], csv), nullptr) << burst;
        EXPECT_EQ(cache.find(draft->set.rules[0], csv), burst == 200 ? rows : nullptr) << burst;
        EXPECT_EQ(cache.find(rule, csv), rows) << burst;
    }
    EXPECT_EQ(cache.take_settings(rule).size(), 1U) << "the drafts had a copy";
}

// What has an error is read again, and said again.
TEST(OverrideCache, KeepsNothingThatIsWrong) {
    OverrideCache cache;
    const auto csv =
        std::make_shared<const std::string>(std::string{kHeader} + "10.0.0.1,2,,7,,,\n");
    for (int i = 0; i < 2; ++i) {
        EXPECT_FALSE(compile(rules(200, ""), csv, {}, &cache));
    }
}

}  // namespace
}  // namespace sluice::override_cache_test
