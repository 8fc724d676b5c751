#include "control/daemon/fleet/fleet_member.hpp"

#include "tests/unit/control/daemon/temporary_folder.hpp"
#include "tests/unit/control/fleet/fake_etcd.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace sluice::fleet_member_test {
namespace {

using fleet_test::FakeEtcd;
using fleet_test::FakeTransport;
using namespace std::chrono_literals;

// A box of the cluster `lab`, of three, that begins with a state of its disk.
struct Box {
    Box(FakeEtcd& etcd, const std::string& node, std::string incarnation, std::string secret = "")
        : board{ClusterOptions{.name = "lab", .node = node, .size = 3, .secret_file = {}}},
          member{FleetStore{EtcdClient{std::make_unique<FakeTransport>(etcd), {}}, "lab"}, board,
                 FleetState{.incarnation = std::move(incarnation)}, std::move(secret)} {}

    // Many ticks, as far apart as those of the box.
    void run(std::chrono::seconds time) {
        for (const auto end = now + time; now < end; now += 500ms) {
            member.tick(now);
        }
    }
    [[nodiscard]] Membership membership() const { return board.status().membership; }
    [[nodiscard]] std::string why() const { return board.status().why; }

    FleetBoard board;
    FleetMember member;
    FleetMember::Clock::time_point now{1h};
};

TEST(FleetMember, WritesItsRecordWhereItHasChangedAndNeverElse) {
    FakeEtcd etcd;
    Box box{etcd, "a", "one"};
    box.run(3s);
    ASSERT_EQ(box.membership(), Membership::Member);
    const std::int64_t before = etcd.revision;
    box.run(1min);
    EXPECT_EQ(etcd.revision, before) << "a revision that nothing asks for fills etcd";
    box.board.change_record([](NodeRecord& record) { record.rules = "another"; });
    box.run(1min);
    EXPECT_EQ(etcd.revision, before + 1);
    EXPECT_EQ(node_from(etcd.keys.at(FleetKeys{"lab"}.node(0)).value)->rules, "another");
}

TEST(FleetMember, ADrainIsSeenWithoutAWrite) {
    FakeEtcd etcd;
    const FleetKeys keys{"lab"};
    Box box{etcd, "a", "one"};
    box.run(3s);
    etcd.put(keys.drain("a"), "me");
    box.run(10s);
    EXPECT_EQ(box.membership(), Membership::Drained);
    EXPECT_FALSE(etcd.keys.contains(keys.node(0)));
    etcd.keys.erase(keys.drain("a"));
    box.run(10s);
    EXPECT_EQ(box.membership(), Membership::Member);
}

// Whoever follows an etcd that is away is of the cluster.
TEST(FleetMember, ADrainedBoxStaysNoneOfTheClusterWhileEtcdIsAway) {
    FakeEtcd etcd;
    const FleetKeys keys{"lab"};
    Box box{etcd, "a", "one"};
    box.run(3s);
    etcd.put(keys.drain("a"), "me");
    box.run(10s);
    ASSERT_EQ(box.membership(), Membership::Drained);
    etcd.is_away = true;
    box.run(10s);
    EXPECT_EQ(box.membership(), Membership::Drained);
    EXPECT_FALSE(is_of_cluster(box.membership()));
}

TEST(FleetMember, ALeaseThatHasEndedIsAskedForAgain) {
    FakeEtcd etcd;
    Box box{etcd, "a", "one"};
    box.run(3s);
    etcd.end_lease(etcd.last_lease);
    box.run(10s);
    EXPECT_EQ(box.membership(), Membership::Member);
    EXPECT_EQ(box.board.status().joined, 2U);
    EXPECT_TRUE(etcd.keys.contains(FleetKeys{"lab"}.node(0)));
}

TEST(FleetMember, ACopyOfItsStateUnderAnotherNameTakesAnotherSlot) {
    FakeEtcd etcd;
    Box box{etcd, "a", "one"};
    Box copy{etcd, "b", "one"};
    box.run(3s);
    copy.run(3s);
    box.run(10s);
    EXPECT_EQ(box.membership(), Membership::Member);
    EXPECT_EQ(copy.membership(), Membership::Member);
    EXPECT_EQ(box.member.slot(), 0U);
    EXPECT_EQ(copy.member.slot(), 1U);
}

TEST(FleetMember, OfTwoWithOneStateAndOneNameOneIsAMember) {
    FakeEtcd etcd;
    Box box{etcd, "a", "one"};
    Box copy{etcd, "a", "one"};
    box.run(3s);
    copy.run(3s);
    ASSERT_EQ(copy.membership(), Membership::Member) << "as the box that starts anew is";
    for (int i = 0; i < 5; ++i) {
        box.run(5s);
        copy.run(5s);
    }
    EXPECT_EQ(copy.membership(), Membership::Member);
    EXPECT_EQ(copy.board.status().joined, 1U);
    EXPECT_EQ(box.membership(), Membership::Refused);
    EXPECT_NE(box.why().find("a copy of this box's state"), std::string::npos) << box.why();
    copy.member.leave();
    box.run(5s);
    EXPECT_EQ(box.membership(), Membership::Member);
}

TEST(FleetMember, ABoxWithAnotherHashSecretIsRefused) {
    FakeEtcd etcd;
    Box box{etcd, "a", "one", "00aa"};
    Box other{etcd, "b", "two", "00ab"};
    Box same{etcd, "c", "three", "00aa"};
    for (Box* const one : {&box, &other, &same}) {
        one->run(3s);
    }
    EXPECT_EQ(box.membership(), Membership::Member);
    EXPECT_EQ(other.membership(), Membership::Refused);
    EXPECT_NE(other.why().find("cluster.secret_file"), std::string::npos) << other.why();
    EXPECT_EQ(same.membership(), Membership::Member);
}

TEST(FleetState, OfABoxOfAnotherNameKeepsItsRulesAndNotItsPlace) {
    TemporaryFolder folder;
    const HeadSet set{.set = {std::string(kSetSumSize, 'a'), 7}, .generation = 3};
    const FleetState first{
        .cluster = "lab", .node = "a", .incarnation = "one", .slot = 2, .adopted = set, .panic = 4};
    ASSERT_TRUE(save_fleet_state(folder / "", first));
    const Result<FleetState> own = load_fleet_state(folder / "", "lab", "a");
    ASSERT_TRUE(own);
    EXPECT_EQ(own->incarnation, "one");
    EXPECT_EQ(own->slot, 2U);
    const Result<FleetState> copy = load_fleet_state(folder / "", "lab", "b");
    ASSERT_TRUE(copy);
    EXPECT_EQ(copy->node, "b");
    EXPECT_NE(copy->incarnation, "one");
    EXPECT_FALSE(copy->slot);
    EXPECT_EQ(copy->adopted, set);
    EXPECT_EQ(copy->panic, 4U);
    const Result<FleetState> other = load_fleet_state(folder / "", "other", "a");
    ASSERT_TRUE(other);
    EXPECT_EQ(other->adopted.generation, 0U);
}

}  // namespace
}  // namespace sluice::fleet_member_test
