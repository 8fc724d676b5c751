#include "control/cli/replay/verdict_writer.hpp"

#include "lib/packet/parse_columns.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

namespace sluice::verdict_writer_test {
namespace {

LoadedSet one_rule() {
    LoadedSet rules;
    LoadedRule rule;
    rule.id = "per-source";
    rule.keys = {{{.field = Field::L4Dport}}, {{.field = Field::L4Sport}}};
    rules.rules.push_back(rule);
    return rules;
}

struct Case {
    std::string_view name;
    Decision decision;
    std::string_view line;
};

class VerdictLine : public testing::TestWithParam<Case> {};

TEST_P(VerdictLine, HasSixColumns) {
    const auto frame = test::udp().sport(99).dport(53).bytes();
    Burst burst;
    burst.add({frame, static_cast<std::uint32_t>(frame.size())}, Direction::In, 0);
    parse_columns(burst.frames(), {}, burst.headers());
    burst.packets()[0].decision = GetParam().decision;
    EXPECT_EQ(verdict_line(9, {&burst, 0}, one_rule(), ""), GetParam().line);
}

INSTANTIATE_TEST_SUITE_P(
    Decisions, VerdictLine,
    testing::Values(
        Case{"unmatched", {}, "9\tpass\tunmatched\t\t\t0\n"},
        Case{"within", {Verdict::Pass, Reason::WithinLimits}, "9\tpass\twithin_limits\t\t\t0\n"},
        Case{"over_limit",
             {Verdict::Drop, Reason::OverLimit, 0, 0, kDropAction, 0, Nanoseconds{123}},
             "9\tdrop\tover_limit\tper-source\t53\t123\n"},
        Case{"never_fits",
             {Verdict::Drop, Reason::OverLimit, 0, 0, kDropAction, 0, kNever},
             "9\tdrop\tover_limit\tper-source\t53\tnever\n"},
        Case{"of_the_second_tier",
             {Verdict::Drop, Reason::OverLimit, 1, 0, kDropAction, 0, kNever},
             "9\tdrop\tover_limit\tper-source\t99\tnever\n"},
        Case{"tagged",
             {Verdict::Tag, Reason::OverLimit, 0, 0, 2, 0, {}},
             "9\ttag\tover_limit\tper-source\t53\t0\n"},
        Case{"no_limit_refused",
             {Verdict::Drop, Reason::TableFull, 0, 0, kDropAction, 0, {}},
             "9\tdrop\ttable_full\tper-source\t53\t\n"},
        Case{"malformed", {Verdict::Drop, Reason::TruncatedL3}, "9\tdrop\ttruncated_l3\t\t\t\n"}),
    [](const auto& one) { return std::string{one.param.name}; });

TEST(VerdictLine, HasNoKeyForARuleWithoutOne) {
    LoadedSet rules = one_rule();
    rules.rules[0].keys.clear();
    Burst burst;
    burst.add({}, Direction::In, 0);
    burst.packets()[0].decision = {Verdict::Drop, Reason::DenyRule, 0, 0, kDropAction, 0, {}};
    EXPECT_EQ(verdict_line(1, {&burst, 0}, rules, ""), "1\tdrop\tdeny_rule\tper-source\t\t\n");
}

TEST(VerdictWriter, SaysWhatItCannotWrite) {
    EXPECT_FALSE(VerdictWriter::create("/nonexistent/folder/verdicts.tsv"));
    auto full = VerdictWriter::create("/dev/full");
    ASSERT_TRUE(full);
    full->write("line\n");
    EXPECT_FALSE(full->finish());
}

}  // namespace
}  // namespace sluice::verdict_writer_test
