#include "control/cli/stats_choice.hpp"

#include <gtest/gtest.h>

namespace sluice::stats_choice_test {
namespace {

Json stats() {
    return Json::parse(R"({"verdicts":{"pass":1},"reasons":{},"connections":{"now":3},
        "connection_events":{},"asks":{},"ask_events":{},
        "rules":[{"id":"a","matched":1},{"id":"b","matched":0},
                 {"id":"c","matched":0,"early_dropped":2}],
        "would_refuse":{"unreadable":1},"services":[{"id":"web"},{"id":"a"}]})");
}

std::string ids(const Json& stats) {
    std::string text;
    for (const Json& rule : stats.at("rules")) {
        text += rule.at("id").get<std::string>();
    }
    return text;
}

TEST(StatsChoice, OfAllThereIsNothingToLeaveOut) {
    Json all = stats();
    EXPECT_EQ(choose_rules(all, {}), "");
    EXPECT_EQ(all, stats());
}

TEST(StatsChoice, ById) {
    Json some = stats();
    EXPECT_EQ(choose_rules(some, {.rules = {"c", "a"}}), "");
    EXPECT_EQ(ids(some), "ac");
    EXPECT_TRUE(some.contains("verdicts"));
    EXPECT_EQ(choose_rules(some, {.rules = {"a", "b"}}), "b") << "it is not there any more";
    Json alone = stats();
    EXPECT_EQ(choose_rules(alone, {.rules = {"a"}, .rules_alone = true}), "");
    EXPECT_FALSE(alone.contains("verdicts"));
    EXPECT_TRUE(alone.at("connections").empty());
}

TEST(StatsChoice, ServicesById) {
    Json alone = stats();
    EXPECT_EQ(choose_rules(alone, {.rules = {"web"}, .rules_alone = true}), "");
    EXPECT_EQ(ids(alone), "");
    EXPECT_EQ(alone.at("services"), Json::parse(R"([{"id":"web"}])"));
    EXPECT_FALSE(alone.contains("would_refuse")) << "they are of all services";
    Json both = stats();
    EXPECT_EQ(choose_rules(both, {.rules = {"a"}}), "");
    EXPECT_EQ(ids(both), "a");
    EXPECT_EQ(both.at("services"), Json::parse(R"([{"id":"a"}])"));
    EXPECT_TRUE(both.contains("would_refuse"));
    EXPECT_EQ(choose_rules(both, {.rules = {"nosuch"}}), "nosuch");
}

TEST(StatsChoice, WithoutThoseThatHaveMatchedNothing) {
    Json some = stats();
    EXPECT_EQ(choose_rules(some, {.nonzero = true}), "");
    EXPECT_EQ(ids(some), "ac");
    EXPECT_EQ(some.at("rules_left_out"), 1);
}

}  // namespace
}  // namespace sluice::stats_choice_test
