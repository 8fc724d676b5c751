#include "lib/rules/load/rule_rows.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace sluice::rule_rows_test {
namespace {

LoadedSet set_of(std::initializer_list<const char*> ids) {
    LoadedSet set;
    for (const char* id : ids) {
        LoadedRule rule;
        rule.id = id;
        set.rules.push_back(rule);
    }
    return set;
}

// The workers' counters: written here only, as workers would.
class Rows : public testing::Test {
protected:
    void count(const LoadedSet& set, std::size_t rule) {
        ++workers[set.rules[rule].counters].counts.admitted;
    }
    std::uint64_t admitted(const LoadedSet& set, std::size_t rule) {
        return rows.totals(set.rules[rule], read).counts.admitted;
    }
    std::vector<RuleTotals> workers = std::vector<RuleTotals>(kMaxRules);
    RuleRows::ReadRow read = [this](std::uint32_t row) { return workers[row]; };
    RuleRows rows;
};

TEST_F(Rows, ARuleKeepsItsCountersOverAReload) {
    LoadedSet first = set_of({"a", "b"});
    rows.assign(first, read);
    count(first, 0);
    count(first, 1);
    LoadedSet second = set_of({"b", "c", "a"});
    rows.assign(second, read);
    EXPECT_EQ(second.rules[2].counters, first.rules[0].counters);
    EXPECT_EQ(admitted(second, 0), 1U);
    EXPECT_EQ(admitted(second, 1), 0U);
    EXPECT_EQ(admitted(second, 2), 1U);
}

// What one limit has refused is not another's.
TEST_F(Rows, OtherLimitsCountAnew) {
    const auto with = [](std::initializer_list<const char*> names) {
        LoadedSet set = set_of({"a"});
        for (const char* name : names) {
            set.rules[0].limits.push_back({{.name = name,
                                            .limit = TokenBucketLimit{*Limit::make(
                                                {Units{1}, std::chrono::seconds{1}}, Units{1})}}});
        }
        return set;
    };
    LoadedSet first = with({"fine", "coarse"});
    rows.assign(first, read);
    RuleTotals& written = workers[first.rules[0].counters];
    written.refused[0] = 5;
    written.refused[1] = 7;
    written.counts.admitted_bytes = 900;
    const RuleTotals before = rows.totals(first.rules[0], read);
    EXPECT_EQ(before.refused[0], 5U);
    EXPECT_EQ(before.refused[1], 7U);
    LoadedSet same = with({"fine", "coarse"});
    rows.assign(same, read);
    EXPECT_EQ(rows.totals(same.rules[0], read).refused[1], 7U);
    LoadedSet other = with({"coarse", "wide"});
    rows.assign(other, read);
    ++written.refused[0];
    const RuleTotals after = rows.totals(other.rules[0], read);
    EXPECT_EQ(after.refused[0], 1U);
    EXPECT_EQ(after.refused[1], 0U);
    EXPECT_EQ(after.counts.admitted_bytes, 900U);
}

// Off, it is not in the set.
TEST_F(Rows, ARuleThatComesBackGoesOnCounting) {
    LoadedSet on = set_of({"a", "b"});
    rows.assign(on, read);
    count(on, 0);
    for (int i = 0; i < 3; ++i) {
        LoadedSet off = set_of({"b", "c"});
        rows.assign(off, read);
        EXPECT_NE(off.rules[1].counters, on.rules[0].counters);
    }
    rows.assign(on, read);
    EXPECT_EQ(admitted(on, 0), 1U);
}

// However many rules come and go.
TEST_F(Rows, ARowIsTakenFromTheRuleThatIsGoneLongest) {
    LoadedSet first = set_of({"first"});
    rows.assign(first, read);
    count(first, 0);
    LoadedSet second = set_of({"second"});
    rows.assign(second, read);
    count(second, 0);
    LoadedSet many;
    for (std::size_t i = 0; i < kMaxRules - 1; ++i) {
        LoadedRule rule;
        rule.id = "r" + std::to_string(i);
        many.rules.push_back(rule);
    }
    rows.assign(many, read);
    rows.assign(second, read);
    EXPECT_EQ(admitted(second, 0), 1U);
    rows.assign(first, read);
    EXPECT_EQ(admitted(first, 0), 0U);
}

TEST_F(Rows, ARowThatIsGivenOutAnewStartsAtZero) {
    LoadedSet all;
    for (std::size_t i = 0; i < kMaxRules; ++i) {
        LoadedRule rule;
        rule.id = "r" + std::to_string(i);
        all.rules.push_back(rule);
    }
    rows.assign(all, read);
    for (std::size_t i = 0; i < kMaxRules; ++i) {
        count(all, i);
    }
    LoadedSet fresh = set_of({"new"});
    rows.assign(fresh, read);  // every row has been used before
    EXPECT_EQ(admitted(fresh, 0), 0U);
    count(fresh, 0);
    EXPECT_EQ(admitted(fresh, 0), 1U);
}

TEST_F(Rows, ARowJustFreedIsTheLastToBeGivenOut) {
    LoadedSet first = set_of({"a"});
    rows.assign(first, read);
    LoadedSet second = set_of({"b"});
    rows.assign(second, read);
    EXPECT_NE(second.rules[0].counters, first.rules[0].counters);
}

TEST_F(Rows, AnUnknownRuleHasCountedNothing) {
    EXPECT_EQ(admitted(set_of({"x"}), 0), 0U);
}

}  // namespace
}  // namespace sluice::rule_rows_test
