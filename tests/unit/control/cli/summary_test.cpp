#include "control/cli/replay/summary.hpp"

#include <gtest/gtest.h>

namespace sluice::summary_test {
namespace {

TEST(ReplaySummary, IsTheDocumentedObjectInTheDocumentedOrder) {
    ReplaySummary summary;
    summary.count({Verdict::Pass, Reason::Unmatched});
    summary.count({Verdict::Pass, Reason::WithinLimits});
    summary.count({Verdict::Tag, Reason::OverLimit, 0, 0, {}});
    summary.count({Verdict::Drop, Reason::OverLimit, 0, 0, {}});
    RuleCounts counts{};
    counts.admitted = 1;
    counts.exceeded = 2;
    counts.skipped = 3;
    summary.rules.push_back({"r", Mode::Enforce, counts});
    EXPECT_EQ(summary_json(summary).dump(),
              R"({"packets":4,"passed":2,"tagged":1,"shaped":0,"dropped":1,"replied":0,"reset":0,)"
              R"("decoyed":0,"rules":[{"id":"r","matched":6,"admitted":1,"exceeded":2,)"
              R"("skipped":3}]})");
}

TEST(ReplaySummary, TellsWhatABanOfASourceDroppedBeforeAnyRule) {
    ReplaySummary summary;
    RuleCounts counts{};
    summary.rules.push_back({"senders", Mode::Enforce, counts});
    EXPECT_EQ(summary_text(summary).find("BANNED SOURCES OF"), std::string::npos);
    EXPECT_FALSE(summary_json(summary)["rules"][0].contains("banned_sources"));
    summary.rules[0].totals.banned_sources = 1'200;
    const std::string text = summary_text(summary);
    EXPECT_NE(text.find("\n\nBANNED SOURCES OF  PACKETS\nsenders              1,200\n"),
              std::string::npos)
        << text;
    EXPECT_EQ(summary_json(summary)["rules"][0]["banned_sources"], 1'200);
    EXPECT_EQ(summary_json(summary)["rules"][0]["matched"], 0);
}

// As `check` says it, of rules over layer 7 alone.
TEST(ReplaySummary, SaysWhichStanceEachRuleHas) {
    ReplaySummary summary;
    summary.rules.push_back({"packets", Mode::Enforce, {}, {}});
    EXPECT_EQ(summary_text(summary).find("READS LAYER 7 OF"), std::string::npos);
    EXPECT_FALSE(summary_json(summary)["rules"][0].contains("stance"));
    summary.rules.push_back(
        {"logins", Mode::Enforce, {}, {.kind = Stance::Kind::Service, .services = {"web"}}});
    summary.rules.push_back({"all", Mode::Monitor, {}, {.kind = Stance::Kind::Anywhere}});
    const std::string text = summary_text(summary);
    EXPECT_NE(text.find("RULE    READS LAYER 7 OF\n"
                        "logins  service web\n"
                        "all     anywhere: can be walked around by clients that mean to; declare a "
                        "service\n"),
              std::string::npos)
        << text;
    const Json rules = summary_json(summary)["rules"];
    EXPECT_EQ(rules[1]["stance"]["kind"], "service");
    EXPECT_EQ(rules[1]["stance"]["text"], "service web");
    EXPECT_EQ(rules[2]["stance"]["kind"], "anywhere");
}

// The reason stands below where nobody verifies, and nobody has asked for that.
TEST(ReplaySummary, SaysWhatBecameOfChecksums) {
    ReplaySummary summary;
    summary.checksums = {{"web", {ChecksumTrust::Verifying, ChecksumTrust::Learning}},
                         {"dns", {ChecksumTrust::Off, ChecksumTrust::Off}}};
    EXPECT_EQ(summary_json(summary)["checksums"].dump(),
              R"({"web":{"clients":"verifying","servers":"learning"},)"
              R"("dns":{"clients":"off","servers":"off"}})");
    const std::string text = summary_text(summary);
    EXPECT_NE(text.find("web      verifying             learning"), std::string::npos) << text;
    EXPECT_EQ(text.find("ethtool"), std::string::npos);
    summary.checksums[0].checksums.servers = ChecksumTrust::Trusting;
    EXPECT_NE(summary_text(summary).find("trusting: " + std::string{kTrustingAdvice}),
              std::string::npos);
}

TEST(ReplaySummary, ListsRulesThatAreOffWithZeros) {
    ReplayRules replayed;
    RuleSet set;
    const auto add = [&](const std::string& id, Mode mode) {
        RuleSummary summary;
        summary.id = id;
        summary.mode = mode;
        replayed.summaries.push_back(summary);
        if (mode != Mode::Off) {
            Rule rule;
            rule.id = id;
            rule.mode = mode;
            set.rules.push_back(rule);
        }
    };
    add("a", Mode::Off);
    add("b", Mode::Enforce);
    add("c", Mode::Off);
    add("d", Mode::Monitor);
    const ReplaySetup setup;
    replayed.loaded = *LoadedRules::make(set, {});
    const WorkerSet workers{setup, replayed.loaded};
    ReplaySummary summary;
    summary.collect(replayed, workers);
    ASSERT_EQ(summary.rules.size(), 4U);
    EXPECT_EQ(summary.rules[0].mode, Mode::Off);
    EXPECT_EQ(summary.rules[1].mode, Mode::Enforce);
    EXPECT_EQ(summary.rules[2].id, "c");
    EXPECT_EQ(summary.rules[3].mode, Mode::Monitor);
    EXPECT_EQ(summary_json(summary)["rules"].size(), 4U);
}

}  // namespace
}  // namespace sluice::summary_test
