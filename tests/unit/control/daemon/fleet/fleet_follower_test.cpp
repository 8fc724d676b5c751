#include "control/daemon/fleet/fleet_follower.hpp"

#include "control/daemon/fleet/fleet_panic.hpp"
#include "tests/unit/control/daemon/keeper_fixture.hpp"
#include "tests/unit/control/fleet/fake_etcd.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace sluice::fleet_follower_test {
namespace {

using fleet_test::FakeEtcd;
using fleet_test::FakeTransport;

// The box `b` of the cluster `lab`, with rules, a dataplane, and an etcd in memory.
class FleetBox : public Keeper {
protected:
    void SetUp() override {
        start_dataplane([this](const std::string& request) {
            const std::lock_guard lock{mutex_};
            ++requests_[request];
        });
        start_daemon();
        ASSERT_FALSE(apply(kOne).refusal);
        disk_.emplace(folder_ / "state", FleetState{.cluster = "lab", .node = "b"});
        board_.change([](FleetStatus& status) { status.membership = Membership::Member; });
        board_.change_record([](NodeRecord& record) { record.node = "b"; });
        follower_.emplace(store(), board_, FleetFollower::Box{rules(), link(), audit_, ""}, *disk_);
    }
    [[nodiscard]] FleetStore store() {
        return {EtcdClient{std::make_unique<FakeTransport>(etcd_), {}}, "lab"};
    }
    HeadSet upload(const std::string& text, std::uint64_t generation) {
        const std::string bytes =
            bytes_of(SetArchive{.files = {.label = "rules.yaml", .text = text}});
        const SetName name = name_of_set(bytes);
        etcd_.put(keys_.chunk(name.sum, 0), bytes);
        return {.set = name, .generation = generation, .by = "me", .at = 1};
    }
    void put(const Rollout& rollout) { etcd_.put(keys_.rollout(), text_of(rollout)); }
    void put(const HeadSet& head) { etcd_.put(keys_.head(), text_of(Head{.now = head})); }
    // A rollout of the set that all boxes are to try.
    static Rollout trial_of(const HeadSet& set, const std::string& id = "r") {
        return {
            .id = id, .next = set, .is_staged = true, .is_everywhere = true, .trial_seconds = 10};
    }
    void poll(FleetFollower::Clock::duration later = 1min) {
        follower_->tick(now_ += later, false);
    }
    [[nodiscard]] NodeRecord record() const { return board_.status().record; }
    [[nodiscard]] std::string text() { return rules().view()->text; }
    [[nodiscard]] int requests(const std::string& request) {
        const std::lock_guard lock{mutex_};
        return requests_[request];
    }

    FakeEtcd etcd_;
    FleetKeys keys_{"lab"};
    FleetBoard board_{ClusterOptions{.name = "lab", .node = "b", .size = 3, .secret_file = {}}};
    std::optional<FleetDisk> disk_;
    std::optional<FleetFollower> follower_;

private:
    FleetFollower::Clock::time_point now_{1h};
    std::mutex mutex_;
    std::map<std::string, int> requests_;
};

TEST_F(FleetBox, ARolloutIsStagedTriedAndKept) {
    const HeadSet set = upload(kTwo, 1);
    Rollout rollout = trial_of(set);
    rollout.is_staged = false;
    put(rollout);
    poll();
    EXPECT_TRUE(record().staged.is_good);
    EXPECT_EQ(record().staged.rollout, "r");
    EXPECT_EQ(text(), kOne);
    put(trial_of(set));
    poll();
    EXPECT_EQ(text(), kTwo);
    EXPECT_TRUE(record().is_trial);
    EXPECT_EQ(record().in_force, set);
    put(set);
    etcd_.keys.erase(keys_.rollout());
    poll();
    EXPECT_FALSE(record().is_trial);
    EXPECT_EQ(record().in_force, set);
    EXPECT_FALSE(rules().view()->unconfirmed);
    EXPECT_EQ(disk_->state().adopted, set);
    EXPECT_FALSE(disk_->state().trial);
}

TEST_F(FleetBox, ARolloutThatGoesTakesItsTrialAlong) {
    put(trial_of(upload(kTwo, 1)));
    poll();
    ASSERT_EQ(text(), kTwo);
    etcd_.keys.erase(keys_.rollout());
    poll();
    EXPECT_EQ(text(), kOne);
    EXPECT_EQ(record().in_force.generation, 0U);
}

TEST_F(FleetBox, ATrialEndsByItsOwnTimerWhereEtcdIsAwayAndIsNotBegunAgain) {
    put(trial_of(upload(kTwo, 1)));
    poll();
    ASSERT_EQ(text(), kTwo);
    etcd_.is_away = true;
    poll();
    EXPECT_EQ(text(), kTwo);
    pass(11s);
    tick();
    EXPECT_EQ(text(), kOne);
    poll();
    etcd_.is_away = false;
    poll();
    EXPECT_EQ(text(), kOne);
    EXPECT_FALSE(record().is_trial);
}

TEST_F(FleetBox, TheSameTextOnTrialIsATrial) {
    put(upload(kOne, 1));
    poll();
    const HeadSet again = upload(kOne, 2);
    put(trial_of(again));
    poll();
    EXPECT_TRUE(record().is_trial);
    EXPECT_EQ(record().in_force, again);
    etcd_.keys.erase(keys_.rollout());
    poll();
    EXPECT_FALSE(record().is_trial);
    EXPECT_EQ(record().in_force.generation, 1U);
    EXPECT_EQ(text(), kOne);
}

TEST_F(FleetBox, ASetThatIsStillUploadedIsNotStaged) {
    Rollout rollout = trial_of(upload(kTwo, 1));
    rollout.is_staged = false;
    rollout.is_uploaded = false;
    put(rollout);
    poll();
    EXPECT_EQ(record().staged.rollout, "");
    rollout.is_uploaded = true;
    put(rollout);
    poll();
    EXPECT_TRUE(record().staged.is_good);
}

TEST_F(FleetBox, AFailedTrialIsNoVerdictOnTheNextRollout) {
    dataplane().refuse("no room");
    put(trial_of(upload(kTwo, 1), "first"));
    poll();
    EXPECT_EQ(record().failed, 1U);
    EXPECT_EQ(record().error, "no room");
    EXPECT_EQ(text(), kOne);
    dataplane().refuse("");
    Rollout next = trial_of(upload(kTwo, 1), "second");
    next.is_staged = false;
    put(next);
    poll();
    EXPECT_EQ(record().staged.rollout, "second");
    EXPECT_EQ(record().failed, 0U) << "it goes with the verdict, in one record";
    next.is_staged = true;
    put(next);
    poll();
    EXPECT_EQ(text(), kTwo);
    EXPECT_TRUE(record().is_trial);
}

TEST_F(FleetBox, ADataplaneThatIsAwayIsNoVerdict) {
    stop_dataplane();
    tick();
    ASSERT_FALSE(connected());
    Rollout rollout = trial_of(upload(kTwo, 1));
    rollout.is_staged = false;
    put(rollout);
    poll();
    EXPECT_EQ(record().staged.rollout, "");
    EXPECT_TRUE(record().is_dataplane_away);
    start_dataplane();
    tick();
    poll(FleetFollower::kRestage);
    EXPECT_TRUE(record().staged.is_good) << record().staged.why;
    EXPECT_FALSE(record().is_dataplane_away);
    EXPECT_EQ(record().error, "");
}

// A box that starts finds the head before its dataplane has come: it may not judge nothing until
// the next try.
TEST_F(FleetBox, TheHeadIsAdoptedAsSoonAsThereIsADataplane) {
    stop_dataplane();
    tick();
    put(upload(kTwo, 1));
    poll();
    EXPECT_EQ(text(), kOne);
    EXPECT_EQ(record().failed, 0U);
    start_dataplane();
    tick();
    poll(1ms);
    EXPECT_EQ(text(), kTwo);
}

TEST_F(FleetBox, AGenerationFarAheadIsNotAdopted) {
    put(upload(kOne, 1));
    poll();
    for (const std::uint64_t absurd : {UINT64_MAX, kMostAhead + 2}) {
        put(upload(kTwo, absurd));
        poll();
        EXPECT_EQ(text(), kOne);
        EXPECT_NE(record().error.find("no rollouts could lead to"), std::string::npos);
    }
    put(upload(kTwo, kMostAhead + 1));
    poll();
    EXPECT_EQ(text(), kTwo);
    EXPECT_EQ(record().error, "");
}

// Rules that name a file of the box's may be meant to read it.
TEST_F(FleetBox, AVerdictHasNothingOfWhatAFileOfTheBoxHolds) {
    const std::string path = folder_ / "secret";
    std::ofstream{path} << "hunter2\n";
    const std::string list = "version: 1\ndata: {lists: {bad: {type: cidr, file: " + path +
                             "}}}\n" + std::string{kTwo}.substr(std::string{"version: 1\n"}.size());
    Rollout rollout = trial_of(upload(list, 1));
    rollout.is_staged = false;
    put(rollout);
    poll();
    EXPECT_FALSE(record().staged.is_good);
    EXPECT_NE(record().staged.why.find(path), std::string::npos) << record().staged.why;
    EXPECT_EQ(record().staged.why.find("hunter2"), std::string::npos);
}

TEST_F(FleetBox, AFetchWithoutAnAnswerIsNoVerdictAndOneOfOtherBytesIs) {
    const HeadSet set = upload(kTwo, 1);
    Rollout rollout = trial_of(set);
    rollout.is_staged = false;
    put(rollout);
    etcd_.hidden = keys_.sets();
    poll();
    EXPECT_EQ(record().staged.rollout, "");
    EXPECT_NE(record().error.find("no answer"), std::string::npos) << "and it stays until then";
    etcd_.hidden.clear();
    poll(FleetFollower::kRestage);
    EXPECT_TRUE(record().staged.is_good);
    etcd_.keys.at(keys_.chunk(set.set.sum, 0)).value[0] = '!';
    rollout.id = "other";
    put(rollout);
    poll();
    EXPECT_EQ(record().staged.rollout, "other");
    EXPECT_FALSE(record().staged.is_good);
}

TEST_F(FleetBox, ModesOfTheBoxAloneAreDrift) {
    const HeadSet set = upload(kOne, 1);
    put(set);
    poll();
    ASSERT_EQ(record().in_force, set);
    EXPECT_FALSE(record().is_detached);
    ASSERT_FALSE(rules().set_mode("a", Mode::Monitor, 7).refusal);
    poll();
    EXPECT_TRUE(record().is_detached);
    const HeadSet next = upload(kOne, 2);
    put(next);
    poll();
    EXPECT_FALSE(record().is_detached);
    EXPECT_EQ(record().in_force, next);
}

TEST_F(FleetBox, AnotherSetOfItsOwnGenerationIsReported) {
    put(upload(kOne, 1));
    poll();
    put(upload(kTwo, 1));
    poll();
    EXPECT_EQ(text(), kOne);
    EXPECT_NE(record().error.find("keeps it until the next one"), std::string::npos)
        << record().error;
    put(upload(kTwo, 2));
    poll();
    EXPECT_EQ(text(), kTwo);
    EXPECT_EQ(record().error, "");
}

TEST_F(FleetBox, PanicIsFollowedOnceWhateverTheOtherRecordsAre) {
    etcd_.put(keys_.head(), "no record of this version");
    etcd_.put(keys_.panic(), text_of(PanicRecord{.pass = true, .number = 3, .by = "me"}));
    FleetPanic panic{store(), board_, *disk_, {link(), audit_}};
    const FleetPanic::Clock::time_point now{1h};
    panic.tick(now, false);
    EXPECT_EQ(record().panic, 3U);
    EXPECT_EQ(disk_->state().panic, 3U);
    const int asked = requests("panic");
    panic.tick(now + 1min, false);
    EXPECT_EQ(requests("panic"), asked);
    poll();
    EXPECT_EQ(record().panic, 3U) << "the thread of the rules leaves it";
    const Result<Reply> stats = link().call(GetStats{});
    ASSERT_TRUE(stats);
    EXPECT_TRUE(std::get<Stats>(*stats).panic);
    EXPECT_TRUE(record().is_panic) << "as the dataplane tells";
}

TEST_F(FleetBox, APanicFarAheadIsNotFollowed) {
    etcd_.put(keys_.panic(), text_of(PanicRecord{.pass = true, .number = UINT64_MAX, .by = "me"}));
    FleetPanic panic{store(), board_, *disk_, {link(), audit_}};
    const FleetPanic::Clock::time_point now{1h};
    panic.tick(now, false);
    EXPECT_EQ(record().panic, 0U);
    EXPECT_EQ(requests("panic"), 0);
    etcd_.put(keys_.panic(), text_of(PanicRecord{.pass = true, .number = 1, .by = "me"}));
    panic.tick(now + 1min, false);
    EXPECT_EQ(record().panic, 1U);
}

TEST_F(FleetBox, PanicWaitsForADataplaneThatIsAway) {
    stop_dataplane();
    tick();
    etcd_.put(keys_.panic(), text_of(PanicRecord{.pass = true, .number = 1, .by = "me"}));
    FleetPanic panic{store(), board_, *disk_, {link(), audit_}};
    const FleetPanic::Clock::time_point now{1h};
    panic.tick(now, false);
    EXPECT_EQ(record().panic, 0U);
    start_dataplane();
    tick();
    panic.tick(now + FleetPanic::kAgain, false);
    EXPECT_EQ(record().panic, 1U);
}

}  // namespace
}  // namespace sluice::fleet_follower_test
