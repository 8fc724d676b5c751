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

TEST(LiveColumn, HasANameEach) {
    for (std::size_t i = 0; i < kLiveColumnNames.size(); ++i) {
        EXPECT_EQ(live_column(kLiveColumnNames[i]), static_cast<LiveColumn>(i));
    }
    EXPECT_FALSE(live_column("speed"));
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
