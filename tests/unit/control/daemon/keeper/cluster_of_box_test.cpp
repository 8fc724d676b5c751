#include "tests/unit/control/daemon/keeper_fixture.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace sluice {
namespace {

const std::string kShared = R"(version: 1
rules:
  - {id: a, mode: enforce, key: [ip.src], scope: cluster, limits: [{algorithm: token_bucket, rate: 100/s, burst: 1000}]}
)";

class ClusterOfBox : public Keeper {
protected:
    void restart_daemon() {
        kill_daemon();
        start_daemon();
        ASSERT_TRUE(connected());
    }
    [[nodiscard]] std::string note() {
        const std::shared_ptr<const RuleView> view = rules().view();
        return view->rules.empty() ? "" : view->rules[0].limits[0].cluster->note;
    }
};

// A dataplane tells of its ports, and nothing of its cluster.
TEST_F(ClusterOfBox, KeptRulesAreShownForTheSizeOfSluiceYamlAfterARestart) {
    cluster_ = {.kind = BoxCluster::Kind::Member, .size = 5};
    start_dataplane();
    start_daemon();
    ASSERT_FALSE(apply(kShared).refusal);
    ASSERT_NE(note().find(" of 5 boxes together"), std::string::npos) << note();
    restart_daemon();
    EXPECT_NE(note().find(" of 5 boxes together"), std::string::npos) << note();
}

TEST_F(ClusterOfBox, KeptRulesThatABoxCannotShareAnyMoreAreAProblemAfterARestart) {
    cluster_ = {.kind = BoxCluster::Kind::Member, .size = 5};
    start_dataplane();
    start_daemon();
    ASSERT_FALSE(apply(kShared).refusal);
    cluster_ = {.kind = BoxCluster::Kind::None};
    restart_daemon();
    EXPECT_NE(rules().view()->problem.find("this box is of no cluster"), std::string::npos)
        << rules().view()->problem;
}

}  // namespace
}  // namespace sluice
