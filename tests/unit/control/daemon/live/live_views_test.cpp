#include "control/daemon/live/live_views.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace sluice::live_views_test {
namespace {

LiveSnapshot snapshot() {
    LiveSnapshot made{.number = 7};
    for (const auto& [id, pps, keys] :
         {std::tuple{"b-mid", LiveRate{20.0}, 3U}, std::tuple{"A-none", LiveRate{}, 9U},
          std::tuple{"c-most", LiveRate{30.0}, 1U}, std::tuple{"a-same", LiveRate{20.0}, 2U}}) {
        LiveRule rule{.id = id, .state = "active"};
        rule.matched.pps = pps;
        rule.live_keys = keys;
        made.rules.push_back(rule);
    }
    return made;
}

struct OrderCase {
    LiveQuery query;
    std::vector<std::uint32_t> order;
};
const OrderCase kOrderCases[] = {
    {{}, {2, 0, 3, 1}},
    {{.descending = false}, {0, 3, 2, 1}},
    {{.sort = LiveColumn::Id, .descending = false}, {1, 3, 0, 2}},
    {{.sort = LiveColumn::Id, .descending = true}, {2, 0, 3, 1}},
    {{.sort = LiveColumn::LiveKeys}, {1, 0, 3, 2}},
    {{.sort = LiveColumn::LimitedNow}, {0, 1, 2, 3}},
    {{.filter = "a-"}, {3, 1}},
    {{.filter = "MOST"}, {2}},
    {{.filter = "no such"}, {}},
};

TEST(OrderedRules, AreByColumnWithTheUnknownLast) {
    const LiveSnapshot made = snapshot();
    for (const OrderCase& one : kOrderCases) {
        EXPECT_EQ(ordered_rules(made.rules, one.query), one.order) << one.query.page_key();
    }
}

TEST(OrderedRules, OfAnIdAreTheRuleAndItsCandidatesWhateverElseHasIt) {
    std::vector<LiveRule> rules;
    for (int i = 0; i < 300; ++i) {
        rules.push_back({.id = "a-bots-" + std::to_string(i)});
    }
    for (const char* id : {"bots.slow", "bots-2", "Bots", "bots", "bot", "acme:bots"}) {
        rules.push_back({.id = id});
    }
    const LiveQuery query{.sort = LiveColumn::Id, .descending = false, .id = "bots"};
    EXPECT_EQ(ordered_rules(rules, query), (std::vector<std::uint32_t>{303, 300}));
    LiveQuery of_tenant = query;
    of_tenant.tenant = "acme";
    EXPECT_EQ(ordered_rules(rules, of_tenant), (std::vector<std::uint32_t>{}));
    of_tenant.id = "acme:bots";
    EXPECT_EQ(ordered_rules(rules, of_tenant), (std::vector<std::uint32_t>{305}));
}

TEST(LiveQuery, IsAnotherForAnotherIdOrFilter) {
    const LiveQuery one{.filter = "c", .id = "ab"};
    EXPECT_NE(one.order_key(), (LiveQuery{.filter = "bc", .id = "a"}.order_key()));
    EXPECT_NE(one.order_key(), (LiveQuery{.filter = "ab", .id = "c"}.order_key()));
    EXPECT_EQ(one.order_key(), (LiveQuery{.filter = "c", .id = "ab"}.order_key()));
}

TEST(LiveColumn, HasANameEach) {
    for (std::size_t i = 0; i < kLiveColumnNames.size(); ++i) {
        EXPECT_EQ(live_column(kLiveColumnNames[i]), static_cast<LiveColumn>(i));
    }
    EXPECT_FALSE(live_column("speed"));
}

TEST(LiveViews, ATenantIsShownItsRulesAndNothingOfTheBox) {
    LiveSnapshot made = snapshot();
    made.since = "2026-01-01T00:00:00Z";
    made.state = {LiveState::Panic, "secret-why"};
    made.generation = 0xabcdef;
    made.workers = 77;
    made.trial = {{"secret-trial", 1}};
    made.rates = LiveRates{};
    made.problems = {{"secret-problem", "warning", "secret-text", "secret-act"}};
    made.ports = {{.name = "secret-port", .link = "up"}};
    made.events = Json::array({{{"rule", "secret-event"}}});
    for (const char* id : {"acme:one", "other:secret-rule", "acme:two", "acmex:secret"}) {
        made.rules.push_back({.id = id, .state = "active"});
    }
    const LiveViews views{std::move(made), {.run = "r", .name = "secret-box", .web = "w"}};
    const LiveQuery query{.most = 64, .tenant = "acme"};
    const std::string text = *views.plain(query);
    EXPECT_EQ(text.find("secret"), std::string::npos) << text;
    const Json shown = Json::parse(text);
    EXPECT_EQ(shown["rules"]["total"], 2);
    EXPECT_EQ(shown["rules"]["rows"].size(), 2U);
    EXPECT_EQ(shown["box"]["state"], "panic");
    EXPECT_TRUE(shown["rates"].is_null());
    EXPECT_TRUE(shown["box"]["generation"].is_null());
    EXPECT_TRUE(shown["box"]["workers"].is_null());
    LiveQuery filtered = query;
    filtered.filter = "one";
    const Json one = Json::parse(*views.plain(filtered));
    EXPECT_EQ(one["rules"]["total"], 2);
    EXPECT_EQ(one["rules"]["matching"], 1);
    EXPECT_EQ(views.plain(query), views.plain(query)) << "made once for all of the tenant";
    EXPECT_EQ(Json::parse(*views.plain({.most = 64}))["rules"]["total"], 8);
    // Whatever a tenant asks for, the operators' answers are still made once.
    for (std::size_t i = 0; i < 2 * LiveViews::kMostKeptOfTenants; ++i) {
        (void)views.plain({.filter = std::to_string(i), .tenant = "acme"});
    }
    EXPECT_EQ(views.plain({.filter = "b"}), views.plain({.filter = "b"}));
}

TEST(LiveViews, GivesTheSameBytesToAllWhoAsk) {
    const LiveViews views{snapshot(), {.run = "0badcafe", .name = "box"}};
    std::vector<LiveViews::Body> bodies(16);
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        threads.emplace_back(
            [&, i] { bodies[i] = i % 2 == 0 ? views.plain({}) : views.compressed({}); });
    }
    threads.clear();
    for (std::size_t i = 2; i < bodies.size(); ++i) {
        EXPECT_EQ(bodies[i].get(), bodies[i % 2].get());
    }
    const Json body = Json::parse(*bodies[0]);
    EXPECT_EQ(body.at("snapshot"), 7);
    EXPECT_EQ(body.at("rules").at("rows").size(), 4U);
    EXPECT_EQ(body.at("rules").at("rows")[3].at("matched_pps"), nullptr);
    EXPECT_EQ(body.at("rates"), nullptr);
}

TEST(LiveViews, KeepsABoundedNumberOfAnswers) {
    const LiveViews views{snapshot(), {}};
    for (std::size_t i = 0; i < 10 * LiveViews::kMostKept; ++i) {
        const LiveQuery query{.filter = std::to_string(i), .first = i};
        ASSERT_EQ(Json::parse(*views.plain(query)).at("rules").at("matching"), 0);
    }
    const LiveQuery late{.filter = "late"};
    EXPECT_NE(views.plain(late).get(), views.plain(late).get()) << "made anew each time";
    const LiveQuery first{.filter = "0", .first = 0};
    EXPECT_EQ(views.plain(first).get(), views.plain(first).get());
}

}  // namespace
}  // namespace sluice::live_views_test
