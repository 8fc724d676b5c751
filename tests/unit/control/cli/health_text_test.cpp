#include "control/cli/health_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::health_text_test {
namespace {

Json health() {
    return {{"version", "1.2"},
            {"dataplane", {{"connected", true}, {"pid", 7}, {"generation", "0a"}}},
            {"panic", false}};
}

TEST(HealthText, IsShortWhereAllIsWell) {
    EXPECT_EQ(health_text(health()), "sluiced: 1.2\ndataplane: pid 7, generation 0a\n");
    Json bare = health();
    bare["dataplane"]["generation"] = "0000000000000000";
    EXPECT_NE(health_text(bare).find("no rules were applied: every packet passes unjudged"),
              std::string::npos);
    Json away = health();
    away["dataplane"] = {{"connected", false}, {"pid", nullptr}, {"generation", nullptr}};
    EXPECT_FALSE(has_dataplane(away));
    EXPECT_TRUE(has_dataplane(health()));
    EXPECT_EQ(health_text(away), "sluiced: 1.2\ndataplane: not connected\n");
}

// What a link to the cluster's store says of itself, and the lines that it is worth.
TEST(HealthText, TellsOfAStoreThatDoesNotTakeWhatIsSpent) {
    struct Row {
        const char* state;
        bool down;
        Json why;
        double clock_off;
        std::string lines;
        bool over_budget = false;
        bool windows_apart = false;
    };
    const Row rows[] = {
        {"ready", false, nullptr, 0.02, ""},
        {"away", true, "Connection refused", 0,
         "the cluster's store is away (Connection refused): limits of `scope: cluster` go by "
         "`owner_down`\n"},
        {"fenced", false, "another box has joined as a", 0,
         "the cluster's store is fenced (another box has joined as a): limits of `scope: cluster` "
         "go by `owner_down` once their credit is spent\n"},
        {"ready", true, nullptr, 0,
         "the cluster's store is slow: limits of `scope: cluster` go by `owner_down`\n"},
        {"ready", false, nullptr, 0,
         "more keys than `budget` are to be told to the cluster's store: those beyond it go by "
         "their local share\n",
         true},
        {"ready", false, nullptr, 0,
         "this box's clock is not the one of the cluster's store: windows of `scope: cluster` go "
         "by their local share\n",
         false, true},
        {"ready", false, nullptr, -10800.0006,
         "this box's clock is 10800.0 s ahead of that of the cluster's store\n"},
        {"ready", false, nullptr, 0.5,
         "this box's clock is 0.5 s behind that of the cluster's store\n"},
    };
    for (const Row& row : rows) {
        Json document = health();
        document["store"] = {{"state", row.state},
                             {"why", row.why},
                             {"down", row.down},
                             {"over_budget", row.over_budget},
                             {"windows_apart", row.windows_apart},
                             {"clock_off_s", row.clock_off}};
        EXPECT_EQ(health_text(document), health_text(health()) + row.lines) << row.state;
    }
}

TEST(HealthText, NamesWebhooksThatWereNotTold) {
    Json document = health();
    document["notify"] = {{{"name", "ops"},
                           {"queued", 128},
                           {"sent", 3},
                           {"failed", 1},
                           {"dropped", 32},
                           {"problem", "Timeout was reached"}},
                          {{"name", "lab"},
                           {"queued", 0},
                           {"sent", 3},
                           {"failed", 0},
                           {"dropped", 0},
                           {"problem", nullptr}}};
    EXPECT_EQ(health_text(document),
              health_text(health()) +
                  "the webhook ops does not take notices: Timeout was reached; 128 wait\n"
                  "the webhook ops was not told of 33 notices since sluiced started\n");
}

TEST(HealthText, SaysWhyRulesInForceAreNotKnown) {
    Json document = health();
    document["rules_problem"] = "act.yaml:7:9: there is no time zone";
    EXPECT_EQ(health_text(document),
              health_text(health()) +
                  "the rules in force do not compile here, and the dataplane keeps what it has: "
                  "act.yaml:7:9: there is no time zone\n");
    document["rules_problem"] = nullptr;
    EXPECT_EQ(health_text(document), health_text(health()));
}

TEST(HealthText, SaysThatStateWasNotKept) {
    const auto said_of = [](bool survives, int not_kept) {
        Json document = health();
        document["state"] = {{"survives", survives}, {"not_kept", not_kept}};
        return health_text(document).substr(health_text(health()).size());
    };
    EXPECT_EQ(said_of(false, 1),
              "what keys owe will not outlive the dataplane: its state directory "
              "could not take it, its log says why\n");
    EXPECT_EQ(said_of(true, 1), "");
    EXPECT_EQ(said_of(false, 0), "") << "it was not to";
    Json away = health();
    away["state"] = nullptr;
    EXPECT_EQ(health_text(away), health_text(health()));
}

TEST(HealthText, NamesRulesAndListsThatDoNothing) {
    Json document = health();
    document["inactive_rules"] = {"night", "weekend"};
    document["empty_lists"] = {{{"name", "bad"}, {"file", "bad.txt"}}};
    EXPECT_EQ(health_text(document), health_text(health()) +
                                         "the list bad has no entry: bad.txt is empty\n"
                                         "not active at this time: night, weekend\n");
}

TEST(HealthText, NamesSidesWhoseChecksumsAreLearntOnceForAService) {
    Json document = health();
    document["checksums_learning"] = {{{"service", "web"}, {"side", "clients"}},
                                      {{"service", "web"}, {"side", "servers"}},
                                      {{"service", "dns"}, {"side", "servers"}}};
    EXPECT_NE(health_text(document).find("no fault: web (clients, servers), dns (servers): "),
              std::string::npos)
        << health_text(document);
}

}  // namespace
}  // namespace sluice::health_text_test
