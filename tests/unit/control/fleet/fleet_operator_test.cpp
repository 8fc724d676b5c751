#include "control/fleet/fleet_operator.hpp"

#include "control/fleet/set_archive.hpp"
#include "tests/unit/control/fleet/fake_etcd.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice::fleet_operator_test {
namespace {

using fleet_test::FakeEtcd;
using fleet_test::FakeTransport;
using namespace std::chrono_literals;

// Boxes that follow at once: each gives its verdict on a rollout, runs it, and runs the head.
struct Fleet {
    Fleet() {
        etcd.changed = [this](const std::string& key) { follow(key); };
        for (const char* name : {"a", "b", "c", "d", "e"}) {
            boxes[name].node = name;
            boxes[name].slot = boxes.size() - 1;
            show(boxes[name]);
        }
    }

    void show(const NodeRecord& box) { etcd.put(keys.node(box.slot), text_of(box)); }
    void follow(const std::string& key) {
        if (key == keys.rollout()) {
            const Result<Rollout> rollout = rollout_from(etcd.keys.at(key).value);
            ASSERT_TRUE(rollout);
            seen.push_back(*rollout);
            for (auto& [name, box] : boxes) {
                box.staged = {rollout->id, name != bad, name == bad ? "no such list" : ""};
                const bool is_meant =
                    rollout->is_staged &&
                    (rollout->is_everywhere ||
                     std::ranges::find(rollout->nodes, name) != rollout->nodes.end());
                if (is_meant && name != weak) {
                    box.in_force = rollout->next;
                    box.is_trial = true;
                } else if (is_meant) {
                    box.failed = rollout->next.generation;
                    box.error = "no room";
                }
                show(box);
            }
        } else if (key == keys.head()) {
            for (auto& [name, box] : boxes) {
                box.in_force = head()->now;
                box.is_trial = false;
                show(box);
            }
        }
    }
    [[nodiscard]] std::optional<Head> head() {
        const auto found = etcd.keys.find(keys.head());
        return found == etcd.keys.end() ? std::nullopt
                                        : std::optional{*head_from(found->second.value)};
    }
    [[nodiscard]] bool is_under_way() const { return etcd.keys.contains(keys.rollout()); }
    [[nodiscard]] FleetOperator hand() {
        return {FleetStore{EtcdClient{std::make_unique<FakeTransport>(etcd), {}}, "lab"},
                [](const std::string&) {}};
    }

    [[nodiscard]] bool has_set(std::string_view bytes) const {
        return etcd.keys.contains(keys.chunk(name_of_set(bytes).sum, 0));
    }

    FakeEtcd etcd;
    FleetKeys keys{"lab"};
    std::map<std::string, NodeRecord> boxes;
    std::string bad;   // cannot stage a set
    std::string weak;  // cannot run one
    std::vector<Rollout> seen;
};

TEST(FleetOperator, ASetIsInForceOnAllOnceAllHaveStagedIt) {
    Fleet fleet;
    const Result<RolloutOutcome> first = fleet.hand().roll_out("one", {.by = "me"});
    ASSERT_TRUE(first) << first.error().what;
    EXPECT_EQ(first->in_force.size(), 5U);
    EXPECT_TRUE(first->behind.empty());
    const Result<RolloutOutcome> second = fleet.hand().roll_out("two", {.by = "me"});
    ASSERT_TRUE(second);
    EXPECT_EQ(fleet.head()->now.generation, 2U);
    EXPECT_EQ(fleet.head()->now.set, name_of_set("two"));
    ASSERT_EQ(fleet.head()->before.size(), 1U);
    EXPECT_EQ(fleet.head()->before.front().set, name_of_set("one"));
    EXPECT_FALSE(fleet.is_under_way());
}

TEST(FleetOperator, OneThatCannotStageItStopsItForAll) {
    Fleet fleet;
    fleet.bad = "d";
    const Result<RolloutOutcome> outcome = fleet.hand().roll_out("one", {});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().what, "d cannot run it, so nobody does: no such list");
    EXPECT_FALSE(fleet.head());
    EXPECT_FALSE(fleet.is_under_way());
    for (const Rollout& rollout : fleet.seen) {
        EXPECT_FALSE(rollout.is_staged) << "nobody was told to run it";
    }
}

TEST(FleetOperator, WavesAreTheCanaryAQuarterAndAll) {
    Fleet fleet;
    ASSERT_TRUE(fleet.hand().roll_out("one", {.canary = "c", .soak = 0s}));
    std::vector<std::size_t> waves;
    for (const Rollout& rollout : fleet.seen) {
        if (rollout.is_staged) {
            EXPECT_EQ(rollout.nodes.front(), "c");
            waves.push_back(rollout.nodes.size());
        }
    }
    EXPECT_EQ(waves, (std::vector<std::size_t>{1, 2, 5}));
    EXPECT_TRUE(fleet.head());
}

TEST(FleetOperator, AWaveThatOneBoxCannotRunIsTheLast) {
    Fleet fleet;
    fleet.weak = "a";  // of the second wave
    const Result<RolloutOutcome> outcome =
        fleet.hand().roll_out("one", {.canary = "c", .soak = 0s});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().what, "it is not in force on a: no room");
    EXPECT_FALSE(fleet.head());
    EXPECT_FALSE(fleet.is_under_way());
}

TEST(FleetOperator, ATrialWaitsForItsConfirmationWhileOthersAreRefused) {
    Fleet fleet;
    ASSERT_TRUE(fleet.hand().roll_out("one", {.by = "first", .confirm = 60s}));
    EXPECT_TRUE(fleet.is_under_way());
    EXPECT_FALSE(fleet.head());
    const Result<RolloutOutcome> other = fleet.hand().roll_out("two", {.by = "other"});
    ASSERT_FALSE(other);
    EXPECT_NE(other.error().what.find("a rollout by first is under way"), std::string::npos);
    ASSERT_TRUE(fleet.hand().confirm());
    EXPECT_EQ(fleet.head()->now.set, name_of_set("one"));
    EXPECT_FALSE(fleet.is_under_way());
    EXPECT_FALSE(fleet.hand().confirm()) << "nothing waits for it";
}

TEST(FleetOperator, AConfirmNamesBoxesThatHaveLeftTheTrial) {
    Fleet fleet;
    ASSERT_TRUE(fleet.hand().roll_out("one", {.confirm = 60s}));
    fleet.boxes["d"].is_detached = true;
    fleet.show(fleet.boxes["d"]);
    std::vector<std::string> said;
    FleetOperator hand{
        FleetStore{EtcdClient{std::make_unique<FakeTransport>(fleet.etcd), {}}, "lab"},
        [&](const std::string& text) { said.push_back(text); }};
    fleet.boxes["d"].is_detached = false;  // what it writes once it has the head
    ASSERT_TRUE(hand.confirm());
    EXPECT_EQ(said, std::vector<std::string>{"d does not run it on trial, and is to take it now"});
}

TEST(FleetOperator, ATrialWhoseLeaseEndsIsNotConfirmed) {
    Fleet fleet;
    ASSERT_TRUE(fleet.hand().roll_out("one", {.confirm = 60s}));
    fleet.etcd.end_lease(fleet.etcd.last_lease);
    EXPECT_FALSE(fleet.hand().confirm());
    EXPECT_FALSE(fleet.head());
}

TEST(FleetOperator, AnEtcdThatHasForgottenGetsAGenerationAboveThatOfEachBox) {
    Fleet fleet;
    fleet.boxes["b"].in_force = {.set = name_of_set("old"), .generation = 41};
    fleet.show(fleet.boxes["b"]);
    ASSERT_TRUE(fleet.hand().roll_out("one", {}));
    EXPECT_EQ(fleet.head()->now.generation, 42U);
}

TEST(FleetOperator, TheWayBackIsAnotherGenerationAndEndsWithTheFirstSet) {
    Fleet fleet;
    ASSERT_TRUE(fleet.hand().roll_out("one", {}));
    ASSERT_TRUE(fleet.hand().roll_out("two", {}));
    ASSERT_TRUE(fleet.hand().roll_back({}));
    EXPECT_EQ(fleet.head()->now.set, name_of_set("one"));
    EXPECT_EQ(fleet.head()->now.generation, 3U);
    EXPECT_FALSE(fleet.hand().roll_back({}));
}

TEST(FleetOperator, SetsThatNobodyCanGoBackToAreForgotten) {
    Fleet fleet;
    for (int i = 0; i < 12; ++i) {
        ASSERT_TRUE(fleet.hand().roll_out("set " + std::to_string(i), {}));
    }
    std::size_t chunks = 0;
    for (const auto& [key, value] : fleet.etcd.keys) {
        chunks += key.starts_with(fleet.keys.sets()) ? 1 : 0;
    }
    EXPECT_EQ(chunks, Head::kMost + 1);
}

TEST(FleetOperator, ASetThatNobodyTookIsForgottenAndOneThatIsConfirmedForgetsOthers) {
    Fleet fleet;
    ASSERT_TRUE(fleet.hand().roll_out("one", {}));
    fleet.bad = "d";
    ASSERT_FALSE(fleet.hand().roll_out("two", {}));
    EXPECT_FALSE(fleet.has_set("two"));
    EXPECT_TRUE(fleet.has_set("one"));
    fleet.bad.clear();
    fleet.etcd.put(fleet.keys.chunk(name_of_set("old").sum, 0), "old");
    ASSERT_TRUE(fleet.hand().roll_out("three", {.confirm = 60s}));
    EXPECT_TRUE(fleet.has_set("three"));
    EXPECT_TRUE(fleet.has_set("old")) << "nothing is deleted while a rollout is under way";
    ASSERT_TRUE(fleet.hand().confirm());
    EXPECT_FALSE(fleet.has_set("old"));
    EXPECT_TRUE(fleet.has_set("three"));
}

TEST(FleetStore, NoSetIsDeletedOnceTheHeadIsAnother) {
    Fleet fleet;
    ASSERT_TRUE(fleet.hand().roll_out("one", {}));
    const Head before = *fleet.head();
    fleet.etcd.put(fleet.keys.chunk(name_of_set("two").sum, 0), "two");
    int requests = 0;
    fleet.etcd.before = [&] {
        if (++requests == 2) {  // after the head was read
            fleet.etcd.put(fleet.keys.head(),
                           text_of(Head{.now = {name_of_set("two"), 2, "other", 1}}));
        }
    };
    ASSERT_TRUE(fleet.hand().store().delete_unnamed());
    EXPECT_TRUE(fleet.has_set("two"));
    ASSERT_TRUE(fleet.hand().store().delete_unnamed());
    EXPECT_TRUE(fleet.has_set("two"));
    EXPECT_FALSE(fleet.has_set("one"));
}

TEST(FleetOperator, AFailureIsNoneOfTheNextRollout) {
    Fleet fleet;
    fleet.weak = "a";
    ASSERT_FALSE(fleet.hand().roll_out("one", {.canary = "a", .soak = 0s}));
    fleet.weak.clear();  // its record has the failure still
    ASSERT_TRUE(fleet.hand().roll_out("one", {.canary = "a", .soak = 0s}));
    EXPECT_EQ(fleet.head()->now.generation, 2U);
}

TEST(FleetOperator, TheWayBackDoesNotWaitForABoxThatCannotStage) {
    Fleet fleet;
    ASSERT_TRUE(fleet.hand().roll_out("one", {}));
    ASSERT_TRUE(fleet.hand().roll_out("two", {}));
    fleet.bad = "d";
    ASSERT_TRUE(fleet.hand().roll_back({}));
    EXPECT_EQ(fleet.head()->now.set, name_of_set("one"));
}

TEST(FleetOperator, ARollbackThatLosesTheRaceGoesBackFromWhatWasPromoted) {
    Fleet fleet;
    ASSERT_TRUE(fleet.hand().roll_out("one", {}));
    ASSERT_TRUE(fleet.hand().roll_out("two", {.confirm = 60s}));
    int requests = 0;
    fleet.etcd.before = [&] {
        if (++requests == 2) {  // the rollout was read, and not ended yet
            fleet.etcd.before = {};
            ASSERT_TRUE(fleet.hand().confirm());
        }
    };
    const Result<RolloutOutcome> outcome = fleet.hand().roll_back({});
    ASSERT_TRUE(outcome) << outcome.error().what;
    EXPECT_EQ(outcome->set.set, name_of_set("one"));
    EXPECT_EQ(outcome->set.generation, 3U);
    EXPECT_EQ(outcome->in_force.size(), 5U);
}

TEST(FleetOperator, AWaveEndsWhereTheDataplaneOfABoxEnds) {
    Fleet fleet;
    int running = 0;
    fleet.etcd.before = [&] {
        NodeRecord& canary = fleet.boxes["c"];
        if (canary.is_trial && ++running == 5) {
            canary.is_dataplane_away = true;
            fleet.show(canary);
        }
    };
    const Result<RolloutOutcome> outcome = fleet.hand().roll_out("one", {.canary = "c"});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().what, "it does not run any more on c: its dataplane is away");
    EXPECT_FALSE(fleet.head());
    EXPECT_FALSE(fleet.is_under_way());
}

TEST(FleetOperator, ACanaryInPanicJudgesNothing) {
    Fleet fleet;
    fleet.boxes["c"].is_panic = true;
    fleet.show(fleet.boxes["c"]);
    const Result<RolloutOutcome> outcome =
        fleet.hand().roll_out("one", {.canary = "c", .soak = 0s});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().what, "it is not in force on c: it is in panic, and judges nothing");
    EXPECT_TRUE(fleet.hand().roll_out("one", {})) << "all at once, as before";
}

// The rules compile, and the dataplane of one box does not take them.
TEST(FleetOperator, OneThatCannotRunItStopsItForAll) {
    Fleet fleet;
    fleet.weak = "d";
    const Result<RolloutOutcome> outcome = fleet.hand().roll_out("one", {});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().what, "it is not in force on d: no room");
    EXPECT_FALSE(fleet.head());
    EXPECT_FALSE(fleet.is_under_way());
}

TEST(FleetOperator, AWaveEndsWhereABoxIsGone) {
    Fleet fleet;
    fleet.etcd.before = [&] {
        if (fleet.boxes["c"].is_trial) {
            fleet.etcd.keys.erase(fleet.keys.node(fleet.boxes["c"].slot));
        }
    };
    const Result<RolloutOutcome> outcome = fleet.hand().roll_out("one", {.canary = "c"});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().what, "it is not in force on c: it is gone");
    EXPECT_FALSE(fleet.is_under_way());
}

TEST(FleetOperator, ReadsWithoutAnAnswerEndNoRolloutWhileItsLeaseHolds) {
    Fleet fleet;
    int running = 0;
    fleet.etcd.before = [&] {
        if (fleet.boxes["c"].is_trial) {
            fleet.etcd.hidden = ++running < 4 ? fleet.keys.nodes() : "";
        }
    };
    const Result<RolloutOutcome> outcome =
        fleet.hand().roll_out("one", {.canary = "c", .soak = 0s});
    ASSERT_TRUE(outcome) << outcome.error().what;
    EXPECT_GT(running, 4);
}

TEST(FleetStore, AChunkOfAnotherSizeEndsADownload) {
    Fleet fleet;
    const SetName name{.sum = std::string(kSetSumSize, 'a'), .size = kMostSetBytes};
    for (std::size_t number = 0; number < 8; ++number) {
        fleet.etcd.put(fleet.keys.chunk(name.sum, number), "x");
    }
    const std::size_t before = fleet.etcd.requests;
    EXPECT_FALSE(fleet.hand().store().download(name));
    EXPECT_EQ(fleet.etcd.requests, before + 1);
}

TEST(FleetOperator, APanicIsSetWhateverTheOtherRecordsAre) {
    Fleet fleet;
    fleet.etcd.put(fleet.keys.head(), "no record of this version");
    ASSERT_TRUE(fleet.hand().set_panic(true, "me"));
    EXPECT_EQ(panic_from(fleet.etcd.keys.at(fleet.keys.panic()).value)->number, 1U);
}

TEST(FleetOperator, APanicIsAboveEveryNumberThatABoxHasFollowed) {
    Fleet fleet;
    fleet.boxes["e"].panic = 7;
    fleet.show(fleet.boxes["e"]);
    const Result<PanicOutcome> outcome = fleet.hand().set_panic(true, "me", 0ms);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(panic_from(fleet.etcd.keys.at(fleet.keys.panic()).value)->number, 8U);
    EXPECT_EQ(outcome->behind.size(), 5U) << "no box has followed it";
}

// So that nobody can leave no number above their own.
TEST(FleetOperator, ANumberFarAheadOfMostIsNotGoneOnFrom) {
    for (const std::uint64_t absurd : {UINT64_MAX, std::uint64_t{1} << 53}) {
        Fleet fleet;
        for (auto& [name, box] : fleet.boxes) {
            box.panic = name == "e" ? absurd : 3;
            fleet.show(box);
        }
        fleet.etcd.put(fleet.keys.panic(), text_of(PanicRecord{.number = absurd}));
        ASSERT_TRUE(fleet.hand().set_panic(true, "me", 0ms));
        EXPECT_EQ(panic_from(fleet.etcd.keys.at(fleet.keys.panic()).value)->number, 4U);
    }
}

// Nobody has ever panicked, and one record says what it likes.
TEST(FleetOperator, TheFirstPanicIsOneThatBoxesFollow) {
    for (const std::uint64_t absurd : {UINT64_MAX, std::uint64_t{1} << 53, kMostAhead}) {
        Fleet fleet;
        fleet.boxes["e"].panic = absurd;
        fleet.show(fleet.boxes["e"]);
        fleet.etcd.put(fleet.keys.panic(), text_of(PanicRecord{.number = absurd}));
        const Result<PanicOutcome> outcome = fleet.hand().set_panic(true, "me", 0ms);
        ASSERT_TRUE(outcome);
        EXPECT_EQ(panic_from(fleet.etcd.keys.at(fleet.keys.panic()).value)->number, 1U);
        EXPECT_TRUE(outcome->followed.empty());
    }
    Fleet fleet;
    fleet.boxes["e"].panic = kMostAhead - 1;
    fleet.show(fleet.boxes["e"]);
    ASSERT_TRUE(fleet.hand().set_panic(true, "me", 0ms));
    EXPECT_EQ(panic_from(fleet.etcd.keys.at(fleet.keys.panic()).value)->number, kMostAhead)
        << "which all that have followed none may follow";
}

TEST(FleetOperator, AGenerationFarAheadOfMostIsNotGoneOnFrom) {
    Fleet fleet;
    ASSERT_TRUE(fleet.hand().roll_out("one", {}));
    Head head = *fleet.head();
    head.now.generation = UINT64_MAX;
    fleet.etcd.put(fleet.keys.head(), text_of(head));
    const Result<RolloutOutcome> outcome = fleet.hand().roll_out("two", {});
    ASSERT_TRUE(outcome) << outcome.error().what;
    EXPECT_EQ(outcome->set.generation, 2U);
    EXPECT_TRUE(fleet.head()->before.empty()) << "nobody has run that one";
}

TEST(FleetOperator, PanicNamesWhoHasFollowed) {
    Fleet fleet;
    fleet.etcd.changed = [&](const std::string& key) {
        if (key == fleet.keys.panic()) {
            for (const char* name : {"a", "b"}) {
                fleet.boxes[name].panic = panic_from(fleet.etcd.keys.at(key).value)->number;
                fleet.show(fleet.boxes[name]);
            }
        }
    };
    const Result<PanicOutcome> outcome = fleet.hand().set_panic(true, "me", 0ms);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->followed, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(outcome->behind, (std::vector<std::string>{"c", "d", "e"}));
}

TEST(FleetOperator, ACanaryThatIsNotThereIsToldBeforeAnythingIsStaged) {
    Fleet fleet;
    const Result<RolloutOutcome> outcome = fleet.hand().roll_out("one", {.canary = "x"});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().what, "no box that is there is called x");
    EXPECT_TRUE(fleet.seen.empty());
}

TEST(FleetOperator, MembersOfBeforeAreAwayUntilTheyAreForgotten) {
    Fleet fleet;
    for (const char* name : {"a", "f", "g"}) {
        fleet.etcd.put(fleet.keys.seen(name), "");
    }
    fleet.etcd.put(fleet.keys.drain("g"), "me");
    const Result<RolloutOutcome> outcome = fleet.hand().roll_out("one", {});
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->away, std::vector<std::string>{"f"});
    EXPECT_FALSE(*fleet.hand().forget("a")) << "it is there";
    EXPECT_TRUE(*fleet.hand().forget("f"));
    EXPECT_FALSE(*fleet.hand().forget("f"));
    EXPECT_TRUE(*fleet.hand().forget("g")) << "for good, as it was drained";
    EXPECT_FALSE(fleet.etcd.keys.contains(fleet.keys.drain("g")));
    EXPECT_TRUE(fleet.hand().roll_out("two", {})->away.empty());
}

TEST(FleetOperator, ASizeIsChangedWhereNoSlotIsBeyondIt) {
    Fleet fleet;
    EXPECT_EQ(*fleet.hand().resize(4), false) << "no box has begun it";
    fleet.etcd.put(fleet.keys.cluster(), text_of(ClusterRecord{5, "digest"}));
    EXPECT_FALSE(fleet.hand().resize(4)) << "e has slot 4";
    EXPECT_EQ(cluster_from(fleet.etcd.keys.at(fleet.keys.cluster()).value)->size, 5U);
    EXPECT_TRUE(*fleet.hand().resize(6));
    const Result<ClusterRecord> now = cluster_from(fleet.etcd.keys.at(fleet.keys.cluster()).value);
    EXPECT_EQ(now->size, 6U);
    EXPECT_EQ(now->secret, "digest");
}

TEST(FleetStore, ASetComesBackInChunksAndNotWithOtherBytes) {
    Fleet fleet;
    FleetOperator hand = fleet.hand();
    std::string bytes(3 * kChunkBytes / 2, 'x');
    const SetName name = name_of_set(bytes);
    ASSERT_TRUE(hand.store().upload(name, bytes));
    EXPECT_TRUE(fleet.etcd.keys.contains(fleet.keys.chunk(name.sum, 1)));
    const Result<std::string> back = hand.store().download(name);
    ASSERT_TRUE(back);
    EXPECT_TRUE(*back == bytes);
    fleet.etcd.keys.at(fleet.keys.chunk(name.sum, 1)).value[7] = 'y';
    EXPECT_FALSE(hand.store().download(name));
    fleet.etcd.keys.erase(fleet.keys.chunk(name.sum, 1));
    EXPECT_FALSE(hand.store().download(name));
}

}  // namespace
}  // namespace sluice::fleet_operator_test
