#include "dataplane/box/heat_report.hpp"

#include "tests/unit/dataplane/box/portless_box.hpp"
#include "tests/unit/dataplane/eal_once.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

// The epochs of a box whose worker is the test: it says when it makes a turn, and which keys it
// met.
namespace sluice::heat_report_test {
namespace {

using namespace std::chrono_literals;

ApplyRules one_limit(const std::string& id, Heatmap heatmap) {
    ApplyRules request;
    Rule rule;
    rule.id = id;
    rule.on_full = OnFull::Open;
    rule.heatmap = heatmap;
    rule.keys = {{{.field = Field::IpSrc}}};
    rule.limits.push_back({.identity = 1,
                           .name = "1",
                           .limit = TokenBucketLimit{*Limit::make({Units{1}, 1s}, Units{5})}});
    request.rules.rules = {rule};
    request.rules.generation = id.size();
    return request;
}

class HeatReportTest : public testing::Test {
protected:
    void SetUp() override {
        test::start_eal_once();
        box.emplace(folder.box);
        report.emplace(box->workers, box->publisher, box->ports);
    }
    void TearDown() override {
        report.reset();
        box.reset();
    }
    void run(const std::string& id, Heatmap heatmap) {
        const Reply reply = box->publisher.take(one_limit(id, heatmap), RulePublisher::Keep::No);
        ASSERT_TRUE(std::holds_alternative<Applied>(reply));
    }
    // The worker makes a turn, in which so many packets of a key come.
    void turn(std::uint64_t key, std::uint64_t packets) {
        HeatTable* const table =
            box->workers.heat().front()->adopt(box->publisher.loaded().set().load);
        for (std::uint64_t i = 0; table != nullptr && i < packets; ++i) {
            table->find(0, key)->note(1, false, 100);
        }
    }
    HeatmapEpochs read(ReadHeatmap request = {}) {
        return report->read(request, {.at = at, .utc_ahead = Nanoseconds{1h}});
    }

    test::BoxFolder folder{"heat_report"};
    std::optional<test::PortlessBox> box;
    std::optional<HeatReport> report;
    Instant at{1h};
};

TEST_F(HeatReportTest, NothingIsKnownBeforeThereAreWorkers) {
    const HeatmapEpochs found = read({.looked_at = {"a"}});
    EXPECT_NE(found.origin, 0U);
    EXPECT_EQ(found.latest, 0U);
    EXPECT_TRUE(found.epochs.empty());
    EXPECT_EQ(report->stats().watched_limits, 0U);
}

TEST_F(HeatReportTest, TellsTheEpochsAfterTheOneThatIsKnown) {
    run("a", Heatmap::On);
    box->make_workers();
    EXPECT_TRUE(read().epochs.empty());
    for (std::uint64_t second = 1; second <= 3; ++second) {
        turn(42, second);
        at += 1s;
        (void)read();
        turn(42, 0);
    }
    const HeatmapEpochs all = read();
    EXPECT_EQ(all.latest, 3U);
    ASSERT_EQ(all.epochs.size(), 2U);  // the oldest ones
    EXPECT_EQ(all.epochs[0].number, 1U);
    const HeatmapEpochs rest = read({.origin = all.origin, .after = 2});
    ASSERT_EQ(rest.epochs.size(), 1U);
    const HeatEpoch& epoch = rest.epochs[0];
    EXPECT_EQ(epoch.generation, box->publisher.generation());
    EXPECT_EQ(epoch.ended_utc_ns, Nanoseconds{2h + 3s}.count());
    ASSERT_EQ(epoch.limits.size(), 1U);
    EXPECT_EQ(epoch.limits[0].rule, "a");
    ASSERT_EQ(epoch.limits[0].samples.size(), 1U);
    EXPECT_EQ(epoch.limits[0].samples[0].offered, 3U);
    // What another dataplane has told is not known here.
    EXPECT_EQ(read({.origin = all.origin + 1, .after = 2}).epochs.front().number, 1U);
    box->workers.stop();
}

TEST_F(HeatReportTest, RulesThatSomebodyLooksAtAndAReloadThatLeavesTheLook) {
    run("a", Heatmap::Off);
    box->make_workers();
    (void)read({.looked_at = {"a"}});
    (void)read();
    turn(42, 0);
    EXPECT_EQ(report->stats().watched_limits, 1U);
    turn(42, 2);
    at += 300ms;
    run("a", Heatmap::On);
    (void)read();
    turn(42, 0);
    const HeatmapEpochs found = read();
    ASSERT_EQ(found.epochs.size(), 1U);
    EXPECT_EQ(found.epochs[0].ended_utc_ns - found.epochs[0].began_utc_ns,
              Nanoseconds{300ms}.count());
    EXPECT_EQ(found.epochs[0].limits.at(0).samples.at(0).offered, 2U);
    EXPECT_EQ(report->stats().watched_limits, 1U);
    box->workers.stop();
}

}  // namespace
}  // namespace sluice::heat_report_test
