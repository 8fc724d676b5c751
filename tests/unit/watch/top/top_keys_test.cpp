#include "lib/watch/top/top_keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace sluice::top_keys_test {
namespace {

using namespace std::chrono_literals;

LoadedRule metered(std::string id) {
    LoadedRule rule;
    rule.id = std::move(id);
    return rule;
}

LoadedSet set_of(std::uint64_t load, std::initializer_list<LoadedRule> rules) {
    LoadedSet set;
    set.load = load;
    set.rules = rules;
    return set;
}

struct Told {
    std::uint32_t rule = 0;
    std::string_view key;
    std::uint32_t weight = 1;
    bool denied = false;
    std::uint64_t remaining = KeySample::kUnknown;
    std::uint64_t load = 1;
    std::uint32_t bytes = 100;
};

void tell(TopKeys& top, const Told& told) {
    KeySample sample;
    sample.load = told.load;
    sample.rule = told.rule;
    sample.weight = told.weight;
    sample.bytes = told.bytes;
    sample.remaining = told.remaining;
    sample.denied = told.denied;
    sample.size = static_cast<std::uint16_t>(told.key.size());
    std::memcpy(sample.key.data(), told.key.data(), told.key.size());
    top.take(sample);
}

std::string names(const std::vector<TopKey>& keys) {
    std::string text;
    for (const TopKey& key : keys) {
        text += (text.empty() ? "" : " ") + key.rule + ":" + key.key;
    }
    return text;
}

TEST(TopKeys, ListsByHitsDeniedAndRemaining) {
    TopKeys top;
    top.adopt(set_of(1, {metered("a"), metered("b")}));
    tell(top, {.key = "often", .weight = 50, .remaining = 7});
    tell(top, {.key = "denied", .weight = 20, .denied = true, .remaining = 0});
    tell(top, {.key = "full", .weight = 10, .remaining = 100});
    tell(top, {.rule = 1, .key = "other", .weight = 30, .denied = true, .remaining = 3});
    tell(top, {.rule = 1, .key = "coarse", .weight = 5});
    EXPECT_EQ(names(top.list({.count = 9})), "a:often b:other a:denied a:full b:coarse");
    EXPECT_EQ(names(top.list({.rule = "a", .count = 2})), "a:often a:denied");
    EXPECT_EQ(names(top.list({.order = TopOrder::Denied, .count = 9})), "b:other a:denied");
    EXPECT_EQ(names(top.list({.order = TopOrder::Remaining, .count = 9})),
              "a:denied b:other a:often a:full");
    EXPECT_TRUE(top.list({.rule = "nobody", .count = 9}).empty());
    const TopKey denied = top.list({.rule = "b", .order = TopOrder::Denied, .count = 1}).at(0);
    EXPECT_EQ(denied.hits, 30U);
    EXPECT_EQ(denied.denied, 30U);
    EXPECT_EQ(denied.remaining, 3U);
}

TEST(TopKeys, ListsByBits) {
    TopKeys top;
    top.adopt(set_of(1, {metered("a")}));
    tell(top, {.key = "many", .weight = 50, .bytes = 60});
    tell(top, {.key = "large", .weight = 5, .bytes = 1'500});
    EXPECT_EQ(names(top.list({.count = 9})), "a:many a:large");
    const std::vector<TopKey> keys = top.list({.order = TopOrder::Bits, .count = 9});
    EXPECT_EQ(names(keys), "a:large a:many");
    EXPECT_EQ(keys[0].bytes, 7'500U);
    EXPECT_EQ(keys[0].bytes_error, 3 * 7'500U);
    EXPECT_EQ(keys[0].hits, 5U);
    EXPECT_EQ(keys[1].bytes, 3'000U);
}

TEST(TopKeys, NamesTheKeysThatItKnows) {
    TopKeys top;
    top.adopt(set_of(1, {metered("a"), metered("b")}));
    tell(top, {.key = "one"});
    tell(top, {.rule = 1, .key = "other"});
    std::vector<std::string> known;
    top.add_names("a", known);
    EXPECT_FALSE(known.empty());
    for (const std::string& key : known) {
        EXPECT_EQ(key, "one");
    }
    top.add_names("nobody", known);
    EXPECT_EQ(std::count(known.begin(), known.end(), "other"), 0);
}

// One sample of weight w says little, many that add up to w say more.
TEST(TopKeys, TellsHowSureItIs) {
    TopKeys top;
    top.adopt(set_of(1, {metered("a")}));
    tell(top, {.key = "one", .weight = 100});
    for (int i = 0; i < 100; ++i) {
        tell(top, {.key = "many", .weight = 1});
    }
    const std::vector<TopKey> keys = top.list({.count = 2});
    for (const TopKey& key : keys) {
        EXPECT_EQ(key.hits, 100U);
        EXPECT_EQ(key.hits_error, key.key == "one" ? 300U : 30U);
    }
}

TEST(TopKeys, LeavesOutSamplesOfOtherSetsAndWhatIsNoRule) {
    TopKeys top;
    LoadedRule drop;
    drop.id = "drop";
    drop.on_match = OnMatch::Act;
    top.adopt(set_of(2, {metered("a"), drop}));
    tell(top, {.key = "x", .load = 1});
    tell(top, {.rule = 1, .key = "x", .load = 2});
    tell(top, {.rule = 2, .key = "x", .load = 2});
    tell(top, {.rule = 0, .key = "x", .weight = 0, .load = 2});
    EXPECT_EQ(top.samples(TopWindow::TenSeconds), 0U);
    EXPECT_TRUE(top.list({.count = 9}).empty());
}

TEST(TopKeys, KeepsWhatItKnowsOfRulesThatGoOn) {
    TopKeys top;
    top.adopt(set_of(1, {metered("a"), metered("b")}));
    tell(top, {.rule = 0, .key = "x"});
    tell(top, {.rule = 1, .key = "y"});
    top.adopt(set_of(2, {metered("c"), metered("b")}));
    EXPECT_TRUE(top.list({.rule = "a", .count = 9}).empty());
    EXPECT_EQ(names(top.list({.count = 9})), "b:y");
    tell(top, {.rule = 1, .key = "z", .weight = 2, .load = 2});
    EXPECT_EQ(names(top.list({.count = 9})), "b:z b:y");
}

constexpr std::array kWindows{TopWindow::Second, TopWindow::TenSeconds, TopWindow::Minute};

// Packets each second of the only key; 0: there is none.
double rate(const TopKeys& top, TopWindow window) {
    const std::vector<TopKey> keys = top.list({.window = window, .count = 1});
    return keys.empty()
               ? 0
               : static_cast<double>(keys[0].hits) * 1e9 / static_cast<double>(keys[0].window_ns);
}

// So many tenths of a second of 1,000 packets each second.
void run(TopKeys& top, Instant& now, int tenths, std::uint64_t load = 1) {
    for (int i = 0; i < tenths; ++i) {
        tell(top, {.key = "x", .weight = 100, .load = load});
        top.pass(now += 100ms);
    }
}

// At a steady rate each window has that rate, from the first second of the rule on.
TEST(TopKeys, KnowTheRateFromTheBeginning) {
    TopKeys top;
    Instant now{1h};
    top.pass(now);
    top.pass(now += 77s);  // long after the box began
    top.adopt(set_of(1, {metered("a")}));
    for (int second = 1; second < 200; ++second) {
        run(top, now, 10);
        for (const TopWindow window : kWindows) {
            EXPECT_NEAR(rate(top, window), 1000, 110) << second;
        }
    }
    EXPECT_EQ(top.list({.count = 1}).at(0).window_ns, 10'000'000'000U);
    EXPECT_NEAR(static_cast<double>(top.samples(TopWindow::Minute)), 600, 10);
}

// What has just begun, or ended, shows in the short window at once.
TEST(TopKeys, FollowWhatChanges) {
    TopKeys top;
    top.adopt(set_of(1, {metered("a")}));
    Instant now{1h};
    top.pass(now);
    top.pass(now += 95s);
    run(top, now, 20);
    EXPECT_NEAR(rate(top, TopWindow::Second), 1000, 110);
    EXPECT_NEAR(rate(top, TopWindow::TenSeconds), 200, 25);
    EXPECT_NEAR(rate(top, TopWindow::Minute), 33, 5);
    run(top, now, 100);
    top.pass(now += 2s);
    EXPECT_EQ(rate(top, TopWindow::Second), 0);
    EXPECT_NEAR(rate(top, TopWindow::TenSeconds), 800, 90);
    top.pass(now += 130s);
    for (const TopWindow window : kWindows) {
        EXPECT_TRUE(top.list({.window = window, .count = 1}).empty());
    }
}

// Whatever keys come, for whatever number of rules, only so many are held.
TEST(TopKeys, HoldsSoManyKeysAtMost) {
    for (const std::size_t rules : {1U, 300U, 16'384U}) {
        LoadedSet set;
        set.load = 1;
        for (std::size_t i = 0; i < rules; ++i) {
            set.rules.push_back(metered("r" + std::to_string(i)));
        }
        TopKeys top;
        top.adopt(set);
        // More than there is room for, in all and for each rule.
        const auto keys = static_cast<std::uint32_t>(
            std::max<std::size_t>(2 * (TopKeys::kMaxKeysInAll / 6), rules * 6));
        for (std::uint32_t i = 0; i < keys; ++i) {
            tell(top, {.rule = i % static_cast<std::uint32_t>(rules),
                       .key = std::to_string(i),
                       .denied = true});
        }
        const std::size_t held = top.list({.count = SIZE_MAX}).size();
        EXPECT_LE(held, std::max<std::size_t>(TopKeys::kMaxKeysInAll / 6, rules * 4));
        EXPECT_LE(held, rules * TopKeys::kMaxKeys);
        EXPECT_GE(held, std::min<std::size_t>(rules * 4, TopKeys::kMaxKeys));
    }
}

}  // namespace
}  // namespace sluice::top_keys_test
