#include "lib/policy/rules/active_reader.hpp"

#include "lib/policy/overrides/until_text.hpp"
#include "tests/unit/policy/outcome.hpp"
#include "tests/unit/policy/wrong_text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::active_reader_test {
namespace {

std::string rules_with(const std::string& active) {
    return "version: 1\nrules:\n  - id: some\n    mode: enforce\n    on_match: drop\n    active: " +
           active + "\n";
}

RuleSet set_of(const std::string& active) {
    const std::string text = rules_with(active);
    const test::Outcome outcome = test::compile({.file = "rules", .text = text});
    EXPECT_TRUE(outcome.rules.has_value())
        << active << (outcome.problems.empty() ? "" : outcome.problems[0].message);
    return outcome.rules ? outcome.rules->set : RuleSet{};
}

struct Row {
    std::string active;
    std::vector<std::string> on;
    std::vector<std::string> off;
};

// 2026-11-27 was a Friday. Berlin's clocks went from 2:00 to 3:00 on 2026-03-29 at 01:00 UTC and
// from 3:00 to 2:00 on 2026-10-25 at 01:00 UTC; those of New York on 03-08 at 07:00 UTC and on
// 11-01 at 06:00 UTC; those of Lord Howe from 2:00 to 1:30 on 04-04 at 15:00 UTC, and from 2:00 to
// 2:30 on 10-03 at 15:30 UTC.
const Row kRows[] = {
    {"{days: mon-fri, hours: 09:00-18:00, zone: Europe/Moscow}",
     {"2026-11-27T06:00:00Z", "2026-11-27T14:59:59Z", "2026-11-30T06:00:00Z"},
     {"2026-11-27T05:59:59Z", "2026-11-27T15:00:00Z", "2026-11-28T06:00:00Z"}},
    {"{days: fri, hours: 22:00-06:00}",
     {"2026-11-27T22:00:00Z", "2026-11-28T05:59:59Z"},
     {"2026-11-27T05:00:00Z", "2026-11-28T06:00:00Z", "2026-11-28T22:00:00Z"}},
    {"{days: sun, hours: 22:00-06:00}", {"2026-11-30T05:59:59Z"}, {"2026-11-29T05:59:59Z"}},
    {"{days: sat-mon}",
     {"2026-11-28T00:00:00Z", "2026-11-30T23:59:59Z"},
     {"2026-11-27T23:59:59Z", "2026-12-01T00:00:00Z"}},
    {"{days: [tue, thu-fri], hours: [08:00-12:00, 13:00-24:00]}",
     {"2026-11-24T08:00:00Z", "2026-11-26T13:00:00Z", "2026-11-27T23:59:59Z"},
     {"2026-11-24T12:00:00Z", "2026-11-25T08:00:00Z", "2026-11-28T00:00:00Z"}},
    {"{hours: 18:00-00:00}", {"2026-11-27T23:59:59Z"}, {"2026-11-27T00:00:00Z"}},
    // Hours that do not exist, that begin among these, and that end there.
    {"{hours: 02:00-03:00, zone: Europe/Berlin}",
     {"2026-03-28T01:00:00Z", "2026-03-30T00:00:00Z"},
     {"2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"}},
    {"{hours: 02:30-04:00, zone: Europe/Berlin}",
     {"2026-03-29T01:00:00Z", "2026-03-29T01:59:59Z"},
     {"2026-03-29T00:59:59Z", "2026-03-29T02:00:00Z"}},
    {"{hours: 01:00-02:30, zone: Europe/Berlin}",
     {"2026-03-29T00:00:00Z", "2026-03-29T00:59:59Z"},
     {"2026-03-28T23:59:59Z", "2026-03-29T01:00:00Z"}},
    // Hours that come twice.
    {"{hours: 02:00-03:00, zone: Europe/Berlin}",
     {"2026-10-25T00:00:00Z", "2026-10-25T01:59:59Z"},
     {"2026-10-24T23:59:59Z", "2026-10-25T02:00:00Z"}},
    {"{hours: 01:30-02:30, zone: Europe/Berlin}",
     {"2026-10-24T23:30:00Z", "2026-10-25T00:29:59Z", "2026-10-25T01:00:00Z",
      "2026-10-25T01:29:59Z"},
     {"2026-10-25T00:30:00Z", "2026-10-25T00:59:59Z", "2026-10-25T01:30:00Z"}},
    {"{days: sat, hours: 22:00-06:00, zone: America/New_York}",
     {"2026-03-08T03:00:00Z", "2026-03-08T09:59:59Z", "2026-11-01T02:00:00Z",
      "2026-11-01T10:59:59Z"},
     {"2026-03-08T02:59:59Z", "2026-03-08T10:00:00Z", "2026-11-01T01:59:59Z",
      "2026-11-01T11:00:00Z"}},
    // Half an hour less, and half an hour twice.
    {"{hours: 01:30-02:00, zone: Australia/Lord_Howe}",
     {"2026-04-04T14:30:00Z", "2026-04-04T15:00:00Z", "2026-04-04T15:29:59Z",
      "2026-10-03T15:29:59Z"},
     {"2026-04-04T14:29:59Z", "2026-04-04T15:30:00Z", "2026-10-03T15:30:00Z"}},
    // Beyond what files of zones list one by one.
    {"{hours: 09:00-10:00, zone: Europe/Berlin}",
     {"2090-01-10T08:00:00Z", "2090-07-10T07:00:00Z", "1970-01-10T08:00:00Z"},
     {"2090-01-10T07:00:00Z", "2090-07-10T08:00:00Z"}},
};

TEST(ActiveReader, RulesAreActiveByTheClocksOfTheirZone) {
    for (const Row& row : kRows) {
        const RuleSet set = set_of(row.active);
        ASSERT_EQ(set.schedules.size(), 1U) << row.active;
        EXPECT_EQ(find_fault(set), std::nullopt);
        const auto active = [&](const std::string& at) {
            return state_at(set.schedules[0], *parse_until(at)).active;
        };
        for (const std::string& at : row.on) {
            EXPECT_TRUE(active(at)) << row.active << " " << at;
        }
        for (const std::string& at : row.off) {
            EXPECT_FALSE(active(at)) << row.active << " " << at;
        }
    }
}

// Second by second around each switch, and nothing in between.
TEST(ActiveReader, KnowsTheNextSwitch) {
    using namespace std::chrono_literals;
    for (const Row& row : kRows) {
        const RuleSet set = set_of(row.active);
        ASSERT_EQ(set.schedules.size(), 1U) << row.active;
        const Schedule& schedule = set.schedules[0];
        Nanoseconds at = *parse_until("2026-01-01T00:00:00Z");
        const Nanoseconds end = *parse_until("2027-01-01T00:00:00Z");
        bool active = state_at(schedule, at).active;
        Nanoseconds next = next_switch(schedule, at);
        for (; at < end; at += 15min) {
            if (at >= next) {
                EXPECT_EQ(state_at(schedule, next - 1ns).active, active) << row.active;
                active = !active;
                EXPECT_EQ(state_at(schedule, next).active, active) << row.active;
                next = next_switch(schedule, next);
            }
            ASSERT_EQ(state_at(schedule, at).active, active) << row.active << at.count();
        }
    }
}

TEST(ActiveReader, EqualSchedulesAreOne) {
    const std::string text =
        "version: 1\nrules:\n"
        "  - {id: a, on_match: drop, active: {days: mon-sun, hours: 01:00-02:00}}\n"
        "  - {id: b, on_match: drop, active: {hours: [01:00-01:30, 01:30-02:00], zone: UTC}}\n"
        "  - {id: c, on_match: drop, active: {hours: 01:00-02:00, zone: Europe/Berlin}}\n"
        "  - {id: d, on_match: drop}\n";
    const test::Outcome outcome = test::compile({.file = "rules", .text = text});
    ASSERT_TRUE(outcome.rules.has_value());
    const RuleSet& set = outcome.rules->set;
    EXPECT_EQ(set.schedules.size(), 2U);
    EXPECT_EQ(set.rules[0].schedule, 1);
    EXPECT_EQ(set.rules[1].schedule, 1);
    EXPECT_EQ(set.rules[2].schedule, 2);
    EXPECT_EQ(set.rules[3].schedule, 0);
    EXPECT_EQ(outcome.rules->rules[1].active->text, "every day 01:00-01:30,01:30-02:00 UTC");
}

TEST(ActiveReader, AFileHasAtMostSixtyThreeOfThem) {
    std::string text = "version: 1\nrules:\n";
    for (unsigned i = 0; i < kMaxSchedules + 1; ++i) {
        const std::string minute = std::to_string(10 + i % 50);
        text += "  - {id: r" + std::to_string(i) +
                ", on_match: drop, active: {hours: 00:00-01:" + minute +
                ", days: " + (i < 50 ? "mon" : "tue") + "}}\n";
    }
    EXPECT_FALSE(test::compile({.file = "rules", .text = text}).rules.has_value());
    text.erase(text.rfind("  - "));
    EXPECT_TRUE(test::compile({.file = "rules", .text = text}).rules.has_value());
}

TEST(ActiveReader, ErrorsSayWhere) {
    constexpr auto kWrong = std::to_array<std::pair<std::string_view, test::WrongText>>({
        {"{days: mon-fry}", {"", 6, 20, "did you mean `fri`"}},
        {"{days: [mon, 7]}", {"", 6, 26, "ranges such as mon-fri"}},
        {"{days: []}", {"", 6, 20, "leave the key out"}},
        {"{days: {}}", {"", 6, 20, "found a map"}},
        {"{hours: 09:00-18:00, zone: Europe/Moskow}", {"", 6, 40, "no time zone `Europe/Moskow`"}},
        {"{hours: 09:00-18:00, zone: ../zoneinfo/UTC}", {"", 6, 40, "no time zone"}},
        {"{hours: 09:00-18:00, zone: [UTC]}", {"", 6, 40, ""}},
        {"{hours: 09:00-09:00}", {"", 6, 21, "are empty"}},
        {"{hours: 24:00-09:00}", {"", 6, 21, "09:00-18:00"}},
        {"{hours: 9-18}", {"", 6, 21, "09:00-18:00"}},
        {"{hours: 09:00-18:60}", {"", 6, 21, "09:00-18:00"}},
        {"{hours: 09:00-24:01}", {"", 6, 21, "09:00-18:00"}},
        {"{zone: UTC}", {"", 6, 13, "needs `days`, `hours` or both"}},
        {"always", {"", 6, 13, ""}},
        {"{day: mon}", {"", 6, 14, "did you mean `days`"}},
    });
    for (const auto& [active, wrong] : kWrong) {
        const std::string text = rules_with(std::string{active});
        const test::Outcome outcome = test::compile({.file = "rules", .text = text});
        EXPECT_FALSE(outcome.rules.has_value()) << active;
        test::WrongText at = wrong;
        at.text = text;
        test::expect_error(at, outcome.problems);
    }
}

}  // namespace
}  // namespace sluice::active_reader_test
