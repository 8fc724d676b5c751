#include "control/cli/nodes_text.hpp"
#include "control/cli/rule_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::nodes_text_test {
namespace {

NodeRecord box(const std::string& name, std::size_t slot) {
    return {.node = name, .slot = slot, .in_force = {.generation = 2}};
}

ClusterNodes three() {
    return {.head = HeadSet{.generation = 2, .by = "me"},
            .nodes = {box("a", 0), box("b", 1), box("c", 2)},
            .size = 3};
}

std::string rules_of(const NodeRecord& node) {
    ClusterNodes cluster = three();
    cluster.head->by = node.in_force.by;
    cluster.nodes = {node};
    return nodes_json(cluster)["nodes"][0]["rules"];
}

TEST(NodesText, ABoxThatJudgesByNothingIsNotInForce) {
    NodeRecord node = box("a", 0);
    EXPECT_EQ(rules_of(node), "in force");
    node.is_trial = true;
    EXPECT_EQ(rules_of(node), "trial");
    node.is_detached = true;
    EXPECT_EQ(rules_of(node), "detached");
    node.is_panic = true;
    EXPECT_EQ(rules_of(node), "PANIC");
    node.is_dataplane_away = true;
    EXPECT_EQ(rules_of(node), "no dataplane");
    node = box("a", 0);
    node.in_force.generation = 1;
    EXPECT_EQ(rules_of(node), "differs");
}

TEST(NodesText, NamesWhoIsInPanicAndWhoIsAway) {
    ClusterNodes cluster = three();
    EXPECT_EQ(nodes_text(cluster).find("PANIC"), std::string::npos);
    EXPECT_EQ(nodes_text(cluster).find("slots are taken"), std::string::npos);
    cluster.nodes[0].is_panic = cluster.nodes[2].is_panic = true;
    cluster.nodes.erase(cluster.nodes.begin() + 1);
    cluster.away = {"b"};
    const std::string text = nodes_text(cluster);
    EXPECT_NE(text.find("PANIC: a, c forward everything unjudged"), std::string::npos) << text;
    EXPECT_NE(text.find("2 of 3 slots are taken\n"), std::string::npos) << text;
    EXPECT_NE(text.find("b is away; where it does not return, `sluicectl nodes forget b`"),
              std::string::npos)
        << text;
    EXPECT_EQ(nodes_json(cluster)["away"], Json::array({"b"}));
}

TEST(NodesText, SetsOfBeforeAreListedTheNewestFirst) {
    FleetView view;
    EXPECT_EQ(history_json(view)["sets"], Json::array());
    view.head.emplace();
    view.head->value.now = {.generation = 3, .by = "me", .at = 86'400};
    view.head->value.before = {{.generation = 1, .by = "you"}};
    EXPECT_EQ(history_json(view)["sets"][1]["by"], "you");
    const std::string text = history_text(view);
    EXPECT_NE(text.find("3"), std::string::npos);
    EXPECT_LT(text.find("me"), text.find("you")) << text;
    EXPECT_NE(text.find("1970-01-02T00:00:00Z"), std::string::npos) << text;
}

TEST(NodesText, ScopesOfAClusterSaySo) {
    EXPECT_EQ(scope_text("local", true), "cluster, local");
    EXPECT_EQ(scope_text("merged", false), "merged");
}

}  // namespace
}  // namespace sluice::nodes_text_test
