#include "lib/rules/load/loaded_rules.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace sluice::loaded_rules_test {
namespace {

using namespace std::chrono_literals;

constexpr HashSecret kSecret{1, 2};
constexpr std::size_t kWorkers = 3;

AnyLimit per_second(std::uint64_t units) {
    return TokenBucketLimit{*Limit::make({.units = Units{units}, .period = 1s}, Units{1000})};
}

// A rule with one token bucket for each source.
Rule rule_of(const std::string& id, std::uint64_t identity, std::uint64_t rate = 10) {
    Rule rule;
    rule.id = id;
    rule.mode = Mode::Enforce;
    rule.keys.push_back({{.field = Field::IpSrc}});
    rule.limits.push_back({.identity = identity, .name = "1", .limit = per_second(rate)});
    return rule;
}

RuleSet set_of(std::initializer_list<Rule> rules) {
    RuleSet set;
    set.rules = rules;
    return set;
}

// Exempts one key.
std::shared_ptr<const Overrides> one_exempt() {
    Overrides overrides;
    overrides.plans.push_back({.exempt = true});
    overrides.keys.push_back({.bytes = {std::byte{4}}, .rows = {{.end = 1, .plan = 0}}});
    return std::make_shared<const Overrides>(std::move(overrides));
}

const LoadedLimit& limit_of(const LoadedRules& loaded, std::size_t rule) {
    return loaded.set().rules[rule].limits.front();
}

const LimitPlan& plan_of(const LoadedRules& loaded) {
    return loaded.set().meter_plan.limits.front();
}

// Tables in which every slot has entries, and entries have the numbers they were written with.
TableView full_tables() {
    return {[](LimitSlot) { return std::uint64_t{1}; }, [] { return std::uint64_t{0}; }};
}

Environment after(const LoadedRules& before) {
    return {.secret = kSecret, .tables = full_tables(), .before = &before};
}

TEST(LoadedRules, OneCallDerivesAllThatWorkersNeed) {
    Rule merged = rule_of("merged", 7);
    merged.limits.front().scope = LimitScope::Merged;
    Rule owned = rule_of("owned", 8);
    owned.limits.front().scope = LimitScope::Owner;
    owned.owner_group = 1;
    Rule known = rule_of("known", 9);
    known.overrides = one_exempt();
    RuleSet set = set_of({merged, owned, known});
    set.owner_groups = {{.parts = owned.keys.front()}};
    const Result<LoadedRules> loaded =
        LoadedRules::make(set, {.secret = kSecret, .sharers = {kWorkers, 1ms}});
    ASSERT_TRUE(loaded);
    const LoadedSet& made = loaded->set();
    for (std::size_t i = 0; i < made.rules.size(); ++i) {
        const LoadedLimit& limit = limit_of(*loaded, i);
        EXPECT_EQ(limit.slot, i + 1);
        EXPECT_EQ(made.rules[i].counters, i);
        EXPECT_EQ(made.slots[limit.slot].limit, &limit.limit) << "a row leads to its limit";
        EXPECT_EQ(made.meter_plan.rules[i].counters, i);
        EXPECT_EQ(made.meter_plan.limits[i].slot, limit.slot);
        EXPECT_EQ(made.meter_plan.limits[i].numbers, &limit.limit);
    }
    EXPECT_EQ(made.meter_plan.limits[0].meter, FastMeter::Shared);
    EXPECT_EQ(made.meter_plan.limits[1].meter, FastMeter::Whole);
    EXPECT_EQ(made.meter_plan.limits[2].meter, FastMeter::Overridden);
    EXPECT_EQ(made.meter_plan.schemas.size(), 3U) << "all rules have one key, and its wider ones";
    EXPECT_GT(limit_of(*loaded, 0).shared, 0U);
    EXPECT_EQ(made.shared_limits, 1U);
    EXPECT_TRUE(made.syncs);
    EXPECT_EQ(made.steering.size(), 3U);
    EXPECT_EQ(made.steering[1], 1U);
    ASSERT_EQ(made.rules[2].override_tables.size(), 1U);
    EXPECT_NE(made.rules[2].override_tables.front(), nullptr);
    EXPECT_FALSE(limit_of(*loaded, 2).overridden) << "an exempt key has no numbers";
    EXPECT_TRUE(made.rules[2].asks_keys);
    EXPECT_GT(made.longest_debt, 0s);
    EXPECT_EQ(made.load, 1U);
    EXPECT_EQ(loaded->merge_interval(), 1ms);
    for (std::size_t worker = 0; worker < kWorkers; ++worker) {
        EXPECT_NE(loaded->texts(worker), nullptr);
    }
    EXPECT_EQ(loaded->texts(kWorkers), nullptr);
}

TEST(LoadedRules, WithoutRulesNothingIsGivenOut) {
    const LoadedRules none;
    EXPECT_TRUE(none.set().rules.empty());
    EXPECT_EQ(none.set().load, 0U);
    EXPECT_EQ(none.texts(0), nullptr);
    EXPECT_TRUE(none.slots().image().limits.empty());
}

// What is derived points into the rules, also after both were moved.
TEST(LoadedRules, MayBeMoved) {
    Result<LoadedRules> made = LoadedRules::make(set_of({rule_of("a", 7), rule_of("b", 8)}), {});
    ASSERT_TRUE(made);
    LoadedRules first = *std::move(made);
    const LoadedRules loaded{std::move(first)};
    const LoadedSet& set = loaded.set();
    for (std::size_t i = 0; i < set.rules.size(); ++i) {
        EXPECT_EQ(set.meter_plan.limits[i].numbers, &set.rules[i].limits.front().limit);
        EXPECT_EQ(set.slots[i + 1].limit, &set.rules[i].limits.front().limit);
    }
}

// What parents and tables of earlier processes owe may last as long as what was used under the
// numbers before lasts at the rate in force.
TEST(LoadedRules, ALoweredRateMakesDebtsLonger) {
    const Result<LoadedRules> fast = LoadedRules::make(set_of({rule_of("a", 7, 1000)}), {});
    ASSERT_TRUE(fast);
    EXPECT_EQ(fast->set().longest_debt, 1s + 1ns);
    EXPECT_FALSE(fast->set().slots[1].latest.lowered);
    RuleSet lower = set_of({rule_of("a", 7, 1)});
    lower.rules.front().limits.front().limit =
        TokenBucketLimit{*Limit::make({.units = Units{1}, .period = 1s}, Units{10})};
    const Result<LoadedRules> slow = LoadedRules::make(std::move(lower), after(*fast));
    ASSERT_TRUE(slow);
    EXPECT_EQ(slow->set().longest_debt, 1000s + 1ns);
    EXPECT_TRUE(slow->set().slots[1].latest.lowered);
    const Result<LoadedRules> restored =
        LoadedRules::make(set_of({rule_of("a", 7, 1000)}), after(*slow));
    ASSERT_TRUE(restored);
    EXPECT_EQ(restored->set().longest_debt, 1s + 1ns);
    EXPECT_FALSE(restored->set().slots[1].latest.lowered);
}

TEST(LoadedRules, AReloadKeepsSlotsAndCounterRows) {
    std::map<std::uint32_t, std::uint64_t> written{{0, 5}, {1, 6}};
    const auto read = [&](std::uint32_t row) {
        return RuleTotals{.counts = {{.admitted = written[row]}, {}, {}}};
    };
    const Result<LoadedRules> first =
        LoadedRules::make(set_of({rule_of("a", 7), rule_of("b", 8)}), {.secret = kSecret});
    ASSERT_TRUE(first);
    Environment environment = after(*first);
    environment.row_totals = read;
    const Result<LoadedRules> second = LoadedRules::make(
        set_of({rule_of("c", 9), rule_of("b", 8, 20), rule_of("a", 7)}), environment);
    ASSERT_TRUE(second);
    EXPECT_EQ(limit_of(*second, 2).slot, limit_of(*first, 0).slot);
    EXPECT_EQ(limit_of(*second, 1).slot, limit_of(*first, 1).slot);
    EXPECT_EQ(limit_of(*second, 0).slot, 3U);
    EXPECT_EQ(second->set().rules[2].counters, first->set().rules[0].counters);
    EXPECT_EQ(second->rows().totals(second->set().rules[2], read).counts.admitted, 5U);
    EXPECT_EQ(second->rows().totals(second->set().rules[0], read).counts.admitted, 0U);
    // Entries under the numbers before can still be read.
    EXPECT_EQ(limit_of(*second, 1).version, 1U);
    ASSERT_EQ(limit_of(*second, 1).previous.size(), 1U);
    EXPECT_EQ(limit_of(*second, 1).previous.front().limit, per_second(10));
    EXPECT_TRUE(limit_of(*second, 2).previous.empty());
    EXPECT_EQ(second->set().load, 2U);
    EXPECT_EQ(second->set().changes, 1U);
}

// What is no rule's any more is known until its last entry has ended.
TEST(LoadedRules, ALimitThatLeftKeepsItsSlotWhileItHasEntries) {
    const Result<LoadedRules> first =
        LoadedRules::make(set_of({rule_of("a", 7), rule_of("b", 8)}), {});
    ASSERT_TRUE(first);
    const Result<LoadedRules> without = LoadedRules::make(set_of({rule_of("b", 8)}), after(*first));
    ASSERT_TRUE(without);
    ASSERT_EQ(without->set().gone.size(), 1U);
    EXPECT_EQ(without->set().gone.front().identity, 7U);
    Environment ended = after(*without);
    ended.tables = {};
    const Result<LoadedRules> later = LoadedRules::make(set_of({rule_of("b", 8)}), ended);
    ASSERT_TRUE(later);
    EXPECT_TRUE(later->set().gone.empty());
}

TEST(LoadedRules, SlotsThatAnEarlierProcessLeftAreKept) {
    const Result<LoadedRules> first =
        LoadedRules::make(set_of({rule_of("a", 7), rule_of("b", 8)}), {});
    ASSERT_TRUE(first);
    const SlotsImage found = first->slots().image();
    const Result<LoadedRules> next = LoadedRules::make(set_of({rule_of("b", 8), rule_of("a", 7)}),
                                                       {.tables = full_tables(), .found = &found});
    ASSERT_TRUE(next);
    EXPECT_EQ(limit_of(*next, 0).slot, limit_of(*first, 1).slot);
    EXPECT_EQ(limit_of(*next, 1).slot, limit_of(*first, 0).slot);
}

// Numbers that change while no entry has been rewritten: at last a slot cannot tell them apart.
TEST(LoadedRules, ARefusalSaysWhyAndChangesNothing) {
    Result<LoadedRules> running = LoadedRules::make(set_of({rule_of("a", 7, 10)}), {});
    ASSERT_TRUE(running);
    Result<LoadedRules> next = LoadedRules::make(set_of({rule_of("a", 7, 11)}), after(*running));
    for (std::uint64_t rate = 12; next && rate < 100; ++rate) {
        running = std::move(next);
        next = LoadedRules::make(set_of({rule_of("a", 7, rate)}), after(*running));
    }
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().code, Errc::TooMany);
    EXPECT_EQ(next.error().what,
              "the numbers of rule a have changed too often in a short time: buckets are still "
              "being rewritten; try again in a second");
    const std::uint64_t load = running->set().load;
    const Result<LoadedRules> same = running->again(after(*running));
    ASSERT_TRUE(same) << "the rules in force still fit";
    EXPECT_EQ(same->set().load, load + 1);
    EXPECT_EQ(limit_of(*same, 0).slot, limit_of(*running, 0).slot);
    EXPECT_EQ(limit_of(*same, 0).version, limit_of(*running, 0).version);
    EXPECT_EQ(limit_of(*same, 0).previous.size(), limit_of(*running, 0).previous.size());
    // Once entries have the latest numbers, others fit again.
    Environment settled = after(*running);
    settled.tables.settled = [] { return UINT64_MAX; };
    EXPECT_TRUE(LoadedRules::make(set_of({rule_of("a", 7, 1000)}), settled));
}

TEST(LoadedRules, KeysMoveInTwoSteps) {
    Environment two{.secret = kSecret, .sharers = {kWorkers, 1ms}, .tables = full_tables()};
    Rule rule = rule_of("a", 7);
    rule.limits.front().rss_mapping_at_ports = 100;
    const Result<LoadedRules> first = LoadedRules::make(set_of({rule}), two);
    ASSERT_TRUE(first);
    EXPECT_FALSE(first->slots().is_migrating());
    rule.limits.front().rss_mapping_at_ports = 200;
    two.before = &*first;
    const Result<LoadedRules> moving = LoadedRules::make(set_of({rule}), two);
    ASSERT_TRUE(moving);
    EXPECT_TRUE(moving->slots().is_migrating());
    EXPECT_TRUE(moving->set().hurries);
    EXPECT_EQ(limit_of(*moving, 0).slot, limit_of(*first, 0).slot);
    EXPECT_EQ(plan_of(*first).meter, FastMeter::Whole);
    EXPECT_EQ(plan_of(*moving).meter, FastMeter::General);
    // Loading them again does not end it.
    const Result<LoadedRules> still = moving->again(two);
    ASSERT_TRUE(still);
    EXPECT_TRUE(still->slots().is_migrating());
    two.moves = Moves::Ended;
    const Result<LoadedRules> moved = still->again(two);
    ASSERT_TRUE(moved);
    EXPECT_FALSE(moved->slots().is_migrating());
    EXPECT_NE(limit_of(*moved, 0).slot, limit_of(*first, 0).slot);
    ASSERT_EQ(limit_of(*moved, 0).migrated_from.size(), 1U);
    EXPECT_EQ(limit_of(*moved, 0).migrated_from.front().slot, limit_of(*first, 0).slot);
    EXPECT_EQ(limit_of(*moved, 0).migrated_from.front().combine, Combine::Sum);
    EXPECT_EQ(moved->set().gone.size(), 1U);
    EXPECT_EQ(plan_of(*moved).meter, FastMeter::Whole);
    EXPECT_EQ(plan_of(*moved).slot, limit_of(*moved, 0).slot);
    EXPECT_FALSE(plan_of(*moved).stands_alone) << "a key may owe something under the slot before";
}

TEST(LoadedRules, AMergeIntervalDecidesHowFarWorkersMayGoAhead) {
    Rule rule = rule_of("a", 7);
    rule.limits.front().scope = LimitScope::Merged;
    const Result<LoadedRules> every_ms =
        LoadedRules::make(set_of({rule}), {.sharers = {kWorkers, 1ms}});
    ASSERT_TRUE(every_ms);
    const Result<LoadedRules> every_second = every_ms->again({.sharers = {kWorkers, 1s}});
    ASSERT_TRUE(every_second);
    EXPECT_EQ(every_second->merge_interval(), 1s);
    EXPECT_NE(limit_of(*every_second, 0).shared, limit_of(*every_ms, 0).shared);
    EXPECT_EQ(every_second->rules().rules.front().limits.front().max_unsynced, 0U);
}

// A million of them are not entered twice.
TEST(LoadedRules, TablesOfTheSameOverridesAreShared) {
    Rule rule = rule_of("a", 7);
    rule.overrides = one_exempt();
    const Result<LoadedRules> first = LoadedRules::make(set_of({rule}), {.secret = kSecret});
    ASSERT_TRUE(first);
    const Result<LoadedRules> same = first->again({.secret = kSecret});
    ASSERT_TRUE(same);
    EXPECT_EQ(same->set().rules[0].override_tables, first->set().rules[0].override_tables);
    const Result<LoadedRules> other = first->again({.secret = {3, 4}});
    ASSERT_TRUE(other);
    EXPECT_NE(other->set().rules[0].override_tables, first->set().rules[0].override_tables)
        << "its digests are others";
}

TEST(LoadedRules, FollowServicesOneWayWhereDirectionsPart) {
    RuleSet rules = set_of({});
    rules.services.resize(2);
    rules.services[1].path = ServicePath::Inbound;
    const LoadedRules both = *LoadedRules::make(rules, {});
    EXPECT_EQ(both.set().services.all[0].path, ServicePath::Both);
    const LoadedRules parted = *both.again({.splits_connections = true});
    EXPECT_EQ(parted.set().services.all[0].path, ServicePath::Inbound);
    EXPECT_EQ(parted.set().services.all[1].path, ServicePath::Inbound);
    // The set itself is what sluiced has sent.
    EXPECT_EQ(parted.rules().services[0].path, ServicePath::Both);
    EXPECT_EQ(parted.again({})->set().services.all[0].path, ServicePath::Both);
}

}  // namespace
}  // namespace sluice::loaded_rules_test
