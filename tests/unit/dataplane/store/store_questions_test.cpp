#include "dataplane/store/store_questions.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

namespace sluice::store_questions_test {
namespace {

using namespace std::chrono_literals;

constexpr StoreAsking kLogins{
    .most = 5, .period = 60'000'000, .machines = 8, .count = AskedCount::ByKey};

class StoreQuestionsTest : public testing::Test {
protected:
    void ask(std::uint64_t key, StoreAsking limit = kLogins, bool down = false) {
        ++turn_;
        ASSERT_TRUE(lane_.questions.put({.ticket = {.place = 0, .turn = turn_},
                                         .hash = key << 58,
                                         .cost = 1,
                                         .slot = 3,
                                         .limit = limit}));
        questions_.take(0, lane_, batches_, down, now_);
    }
    const StoreBatch* said() {
        now_ += 2ms;
        return batches_.next_to_say(now_);
    }
    // An answer to a batch: whether each question of it is refused.
    void reply(const StoreBatch& batch, const std::vector<bool>& refused, std::uint64_t born = 1) {
        StoreReply reply{.partition = batch.partition, .seq = batch.seq, .born = born};
        for (const bool each : refused) {
            reply.levels.push_back(
                {.current = each ? 5U : 1U, .refused = each, .less_in_us = less_in_us_});
        }
        batches_.settle(reply, now_);
        settle();
    }
    void settle() { questions_.settle(batches_, now_); }
    // The answers that a worker has: turn and whether it may pass.
    std::vector<std::pair<std::uint32_t, bool>> answers() {
        questions_.deliver(0, lane_);
        std::vector<std::pair<std::uint32_t, bool>> all;
        lane_.answers.drain(
            [&](const Answer& answer) { all.emplace_back(answer.ticket.turn, admits(answer)); });
        return all;
    }
    using Answers = std::vector<std::pair<std::uint32_t, bool>>;
    Answer answer() {
        Answer last;
        questions_.deliver(0, lane_);
        lane_.answers.drain([&](const Answer& each) { last = each; });
        return last;
    }

    StoreAskLane lane_;
    StoreBatches batches_{1, 100'000};
    StoreQuestions questions_{1};
    Nanoseconds now_ = 1h;
    std::uint32_t turn_ = 0;
    std::uint64_t less_in_us_ = 0;
};

TEST_F(StoreQuestionsTest, ALogIsAskedAboutAsOne) {
    StoreAsking log = kLogins;
    log.count = AskedCount::Logged;
    ask(1, log);
    const StoreBatch* batch = said();
    ASSERT_NE(batch, nullptr);
    EXPECT_EQ(batch->entries.at(0).lasts, kLastsLogged);
    EXPECT_EQ(batch->entries.at(0).window_us, 60'000'000U);
    EXPECT_EQ(batch->entries.at(0).most, 5U);
}

TEST_F(StoreQuestionsTest, ARequestIsAnsweredAsTheStoreSays) {
    ask(1);
    ask(1);
    const StoreBatch* batch = said();
    ASSERT_NE(batch, nullptr);
    ASSERT_EQ(batch->entries.size(), 2U);
    EXPECT_EQ(batch->entries[0].kind, StoreEntryKind::Ask);
    EXPECT_EQ(batch->entries[0].most, 5U);
    EXPECT_EQ(batch->entries[0].window_us, 60'000'000U);
    EXPECT_EQ(batch->entries[0].lasts, kLastsByKey);
    EXPECT_TRUE(answers().empty());
    reply(StoreBatch{*batch}, {false, true});
    EXPECT_EQ(answers(), (Answers{{1, true}, {2, false}}));
    EXPECT_EQ(questions_.counts().admitted, 1U);
    EXPECT_EQ(questions_.counts().refused, 1U);
    EXPECT_EQ(questions_.waiting(), 0U);
    EXPECT_EQ(batches_.unsynced(), 0U);
}

// A reply that comes again, one of another length, one to nothing: none admits anything.
TEST_F(StoreQuestionsTest, AHostilePeerAdmitsWhatWasAskedOnce) {
    ask(1);
    const StoreBatch batch = *said();
    reply({.partition = batch.partition, .seq = batch.seq + 1}, {false});
    reply(batch, {false, false});
    reply({.partition = 7, .seq = 1}, {false});
    EXPECT_TRUE(answers().empty());
    reply(batch, {false});
    reply(batch, {false});
    EXPECT_EQ(answers(), (Answers{{1, true}}));
    EXPECT_EQ(batches_.counts().strange, 4U);
}

// After its time a request goes by its box's share: eight units of five, so one by a key that owes
// nothing, and the next once all is paid back. What the store says then counts no more.
TEST_F(StoreQuestionsTest, TheDeadlineIsTheBoxsShare) {
    ask(1);
    const StoreBatch batch = *said();
    ask(1);
    now_ += kLongestStoreWait - 3ms;
    settle();
    EXPECT_TRUE(answers().empty());
    now_ += 3ms;
    settle();
    EXPECT_EQ(answers(), (Answers{{1, true}, {2, false}}));
    EXPECT_EQ(questions_.counts().late, 2U);
    reply(batch, {false});
    EXPECT_TRUE(answers().empty());
    EXPECT_EQ(questions_.counts().admitted, 0U);
    // The second one was never said.
    EXPECT_EQ(said(), nullptr);
    ask(1, kLogins, true);
    EXPECT_EQ(answers(), (Answers{{3, false}}));
    now_ += 96s;
    ask(1, kLogins, true);
    ask(1, kLogins, true);
    EXPECT_EQ(answers(), (Answers{{4, true}, {5, false}}));
    EXPECT_EQ(questions_.counts().down, 3U);
}

// What the store has said is owed stays owed.
TEST_F(StoreQuestionsTest, AKeyThatTheStoreRefusedGoesOnFromThere) {
    ask(1);
    reply(StoreBatch{*said()}, {true});
    EXPECT_EQ(answers(), (Answers{{1, false}}));
    ask(1, kLogins, true);
    EXPECT_EQ(answers(), (Answers{{2, false}}));
    now_ += 61s;
    ask(1, kLogins, true);
    EXPECT_EQ(answers(), (Answers{{3, true}}));
}

constexpr StoreAsking kBucket{.most = 5, .period = 12'000'000'000, .parts = 2, .machines = 8};

// A key that was refused a moment ago takes nothing from the others: it is refused here, until what
// it lacks can have been paid back since it was asked about.
TEST_F(StoreQuestionsTest, AKeyWithoutRoomIsNotAskedAboutUntilItCanHaveSome) {
    less_in_us_ = 2'500'000;  // of 6 s a unit: more than half of the next is paid
    ask(1, kBucket);
    const Nanoseconds asked = now_;
    reply(StoreBatch{*said()}, {true});
    EXPECT_EQ(answer().wait, 2500ms);
    for (int i = 0; i < 1000; ++i) {
        ask(1, kBucket);
    }
    EXPECT_EQ(answers().size(), 1000U);
    EXPECT_EQ(said(), nullptr);
    EXPECT_EQ(questions_.counts().still_refused, 1000U);
    now_ = asked + 2500ms - 2ns;
    ask(1, kBucket);
    const Answer refused = answer();
    EXPECT_EQ(refused.what, Answer::What::Judged);
    EXPECT_EQ(refused.conformance, Conformance::Red);
    now_ = asked + 2500ms - 1ns;
    ask(1, kBucket);
    const StoreBatch* const again = said();
    ASSERT_NE(again, nullptr);
    less_in_us_ = 1'000'000'000;  // no unit takes so long
    reply(StoreBatch{*again}, {true});
    EXPECT_LE(answer().wait, 6s);
}

TEST_F(StoreQuestionsTest, AWindowWithoutRoomIsNotAskedAboutUntilItIsOver) {
    less_in_us_ = 3'000'000;
    ask(1);
    const Nanoseconds asked = now_;
    reply(StoreBatch{*said()}, {true});
    EXPECT_EQ(answer().wait, 3s);
    now_ = asked + 3s - 2ns;
    ask(1);
    EXPECT_FALSE(answers().empty());
    now_ = asked + 3s;
    ask(1);
    EXPECT_NE(said(), nullptr);
}

// What the refusal says nothing about is asked: another key, other numbers, a lesser cost, a key
// after a while, a store that began anew.
TEST_F(StoreQuestionsTest, WhatMayHaveRoomIsAsked) {
    less_in_us_ = 60'000'000;
    const auto refuse = [&](std::uint64_t born) {
        const StoreBatch* const batch = said();
        ASSERT_NE(batch, nullptr);
        reply(StoreBatch{*batch}, {true}, born);
        (void)answers();
    };
    ask(1);
    refuse(1);
    ask(2);
    refuse(1);
    StoreAsking changed = kLogins;
    changed.most = 6;
    ask(1, changed);
    reply(StoreBatch{*said()}, {false});
    (void)answers();
    now_ += RefusedKeys::kAskedAgain;
    ask(1);
    refuse(1);
    ask(1);
    EXPECT_EQ(said(), nullptr);
    ask(3);
    refuse(1);
    ask(4);
    refuse(1);
    ask(1, changed);
    refuse(2);
    ask(3);
    EXPECT_NE(said(), nullptr);
}

TEST(RefusedKeys, AreBoundedAndHoldForACostThatIsNoLess) {
    RefusedKeys keys{1};
    const auto question = [](std::uint64_t key, std::uint32_t cost) {
        return StoreQuestion{.hash = key, .cost = cost, .limit = kLogins};
    };
    for (std::uint64_t key = 1; key <= 9; ++key) {
        keys.note(question(key, 2), 1h, 1h + key * 1s);
    }
    EXPECT_FALSE(keys.wait_of(question(1, 2), 1h));
    EXPECT_EQ(keys.wait_of(question(9, 2), 1h), 9s);
    EXPECT_EQ(keys.wait_of(question(9, 3), 1h), 9s);
    EXPECT_FALSE(keys.wait_of(question(9, 1), 1h));
    EXPECT_FALSE(keys.wait_of(question(9, 2), 1h + 9s));
}

// Refused without the store: no ban counts it, and the client is told when to come again.
TEST_F(StoreQuestionsTest, ARefusalByTheBoxAloneIsNoBreachAndTellsTheWait) {
    ask(1, kLogins, true);
    EXPECT_EQ(answer().what, Answer::What::Judged);
    now_ += 1s;
    ask(1, kLogins, true);
    const Answer refused = answer();
    EXPECT_EQ(refused.what, Answer::What::NoPlace);
    EXPECT_EQ(refused.conformance, Conformance::NoRoom);
    EXPECT_EQ(refused.wait, 95s);
}

TEST_F(StoreQuestionsTest, WithoutTheStoreItGoesByOwnerDown) {
    StoreAsking limit = kLogins;
    const auto passes = [&](AskedDown down, std::uint64_t key) {
        limit.down = down;
        std::size_t count = 0;
        for (int i = 0; i < 7; ++i) {
            ask(key, limit, true);
        }
        for (const auto& [turn, admitted] : answers()) {
            count += admitted ? 1 : 0;
        }
        return count;
    };
    EXPECT_EQ(passes(AskedDown::Open, 1), 7U);
    EXPECT_EQ(passes(AskedDown::Closed, 2), 0U);
    EXPECT_EQ(passes(AskedDown::LastKnown, 3), 5U);
    EXPECT_EQ(passes(AskedDown::LocalShare, 4), 1U);
    limit.machines = 2;
    EXPECT_EQ(passes(AskedDown::LocalShare, 5), 2U);
}

// A partition has room for so many that wait; each beyond it is decided at once.
TEST_F(StoreQuestionsTest, MoreThanThereIsRoomForAreDecidedAtOnce) {
    StoreAsking limit = kLogins;
    limit.down = AskedDown::Closed;
    for (std::size_t i = 0; i < StoreBatches::kMostAsked + 2; ++i) {
        ask(1, limit);
    }
    EXPECT_EQ(answers().size(), 2U);
    EXPECT_EQ(questions_.counts().no_room, 2U);
    EXPECT_EQ(questions_.waiting(), StoreBatches::kMostAsked);
    EXPECT_EQ(said()->entries.size(), StoreBatches::kMostAskedAtOnce);
}

// The only places of a set are of keys that owe: another key is refused, until one is free.
TEST(AskedShares, AreBoundedAndMintNothing) {
    AskedShares shares{1};
    const auto decide = [&](std::uint64_t key, Nanoseconds now) {
        return shares.decide({.hash = key, .cost = 1, .limit = kLogins}, now).admitted;
    };
    for (std::uint64_t key = 1; key <= 8; ++key) {
        EXPECT_TRUE(decide(key, 1h));
    }
    EXPECT_FALSE(decide(9, 1h));
    EXPECT_FALSE(decide(1, 1h));
    EXPECT_TRUE(decide(9, 1h + 97s));
}

}  // namespace
}  // namespace sluice::store_questions_test
