#include "lib/heavy_hitters/top_keys.hpp"

#include <gtest/gtest.h>

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
};

void tell(TopKeys& top, const Told& told) {
    KeySample sample;
    sample.load = told.load;
    sample.rule = told.rule;
    sample.weight = told.weight;
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
    EXPECT_EQ(names(top.list("", TopOrder::Hits, 9)), "a:often b:other a:denied a:full b:coarse");
    EXPECT_EQ(names(top.list("a", TopOrder::Hits, 2)), "a:often a:denied");
    EXPECT_EQ(names(top.list("", TopOrder::Denied, 9)), "b:other a:denied");
    EXPECT_EQ(names(top.list("", TopOrder::Remaining, 9)), "a:denied b:other a:often a:full");
    EXPECT_TRUE(top.list("nobody", TopOrder::Hits, 9).empty());
    const TopKey denied = top.list("b", TopOrder::Denied, 1).at(0);
    EXPECT_EQ(denied.hits, 30U);
    EXPECT_EQ(denied.denied, 30U);
    EXPECT_EQ(denied.remaining, 3U);
}

// One sample of weight w says little, many that add up to w say more.
TEST(TopKeys, TellsHowSureItIs) {
    TopKeys top;
    top.adopt(set_of(1, {metered("a")}));
    tell(top, {.key = "one", .weight = 100});
    for (int i = 0; i < 100; ++i) {
        tell(top, {.key = "many", .weight = 1});
    }
    const std::vector<TopKey> keys = top.list("", TopOrder::Hits, 2);
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
    EXPECT_EQ(top.samples(), 0U);
    EXPECT_TRUE(top.list("", TopOrder::Hits, 9).empty());
}

TEST(TopKeys, KeepsWhatItKnowsOfRulesThatGoOn) {
    TopKeys top;
    top.adopt(set_of(1, {metered("a"), metered("b")}));
    tell(top, {.rule = 0, .key = "x"});
    tell(top, {.rule = 1, .key = "y"});
    top.adopt(set_of(2, {metered("c"), metered("b")}));
    EXPECT_TRUE(top.list("a", TopOrder::Hits, 9).empty());
    EXPECT_EQ(names(top.list("", TopOrder::Hits, 9)), "b:y");
    tell(top, {.rule = 1, .key = "z", .weight = 2, .load = 2});
    EXPECT_EQ(names(top.list("", TopOrder::Hits, 9)), "b:z b:y");
}

// At a steady rate the rate that is told stays, however long it goes on, and goes when it ends.
TEST(TopKeys, ForgetsWhatWas) {
    TopKeys top;
    top.adopt(set_of(1, {metered("a")}));
    Instant now{1h};
    const auto rate = [&] {
        const double seconds = static_cast<double>(top.window().count()) / 1e9;
        return static_cast<double>(top.list("", TopOrder::Hits, 1).at(0).hits) / seconds;
    };
    top.pass(now);
    for (int second = 0; second < 600; ++second) {
        tell(top, {.key = "x", .weight = 1000});
        now += 1s;
        top.pass(now);
    }
    EXPECT_NEAR(rate(), 1000, 20);
    EXPECT_LE(top.window(), 2 * TopKeys::kHalfLife);
    now += 600s;
    top.pass(now);
    EXPECT_LT(rate(), 1);
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
        for (std::uint32_t i = 0; i < 100'000; ++i) {
            tell(top, {.rule = i % static_cast<std::uint32_t>(rules),
                       .key = std::to_string(i),
                       .denied = true});
        }
        const std::size_t held = top.list("", TopOrder::Hits, SIZE_MAX).size();
        EXPECT_LE(held, std::max<std::size_t>(TopKeys::kMaxKeysInAll, rules * 4));
        EXPECT_GE(held, std::min<std::size_t>(rules * 4, TopKeys::kMaxKeys));
    }
}

}  // namespace
}  // namespace sluice::top_keys_test
