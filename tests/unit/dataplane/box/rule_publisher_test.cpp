#include "dataplane/box/rule_publisher.hpp"

#include "tests/unit/dataplane/box/portless_box.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <variant>

// Rules on their way from a request to a worker and to the disk: what is in force, what is freed
// when, and what the next start has. The worker is the test: it says when a turn has ended.
namespace sluice::rule_publisher_test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using State = Running::State;
using Keep = RulePublisher::Keep;
using test::deny_all;
using Box = test::PortlessBox;

// The worker ends one turn after the other in a thread of its own.
class TurningWorker {
public:
    explicit TurningWorker(QuiesceBoard& board)
        : thread_{[this, &board] {
              board.join(0);
              while (!stop_.raised()) {
                  board.quiescent(0);
                  std::this_thread::yield();
              }
              board.leave(0);
          }} {}
    ~TurningWorker() {
        stop_.raise(true);
        thread_.join();
    }
    TurningWorker(const TurningWorker&) = delete;
    TurningWorker& operator=(const TurningWorker&) = delete;

private:
    Signal stop_;
    std::thread thread_;
};

class RulePublisherTest : public testing::Test {
protected:
    // The rules that the next start would find; empty: none.
    [[nodiscard]] std::string kept() const {
        const auto found = RulesStore{box.state_dir}.load();
        return found && *found ? (*found)->source : "";
    }

    test::BoxFolder folder{"rule_publisher"};
    BoxConfig& box = folder.box;
};

TEST_F(RulePublisherTest, WithoutRulesTheBoxDoesWhatItIsTold) {
    for (const auto& [on_no_rules, state] : {std::pair{OnNoRules::LastGood, State::NoRulesetPass},
                                             std::pair{OnNoRules::Pass, State::NoRulesetPass},
                                             std::pair{OnNoRules::Drop, State::NoRulesetDrop}}) {
        box.on_no_rules = on_no_rules;
        const Box one{box};
        EXPECT_EQ(one.running(), state);
        EXPECT_EQ(one.publisher.generation(), 0U);
        EXPECT_FALSE(one.publisher.judges());
        EXPECT_EQ(one.publisher.kept_rules(), KeptRules::None);
    }
}

TEST_F(RulePublisherTest, RulesAreInForceAsSoonAsTheyAreTaken) {
    Box one{box};
    for (const char* source : {"first", "second"}) {
        const Reply reply = one.publisher.take(deny_all(source), Keep::No);
        ASSERT_TRUE(std::holds_alternative<Applied>(reply));
        EXPECT_EQ(std::get<Applied>(reply).generation, one.publisher.generation());
        EXPECT_EQ(one.running(), State::Enforce);
        EXPECT_EQ(one.publisher.running().adopt().loaded, one.publisher.shared());
        EXPECT_EQ(one.publisher.loaded().rules().rules.front().id, source);
        EXPECT_EQ(one.source(), source);
        EXPECT_TRUE(one.publisher.judges());
    }
    EXPECT_EQ(kept(), "") << "nobody asked for them to be kept";
}

// A worker that stands still may look at what it has adopted, however long that takes.
TEST_F(RulePublisherTest, TheOldAreFreedOnceTheWorkerHasPassed) {
    Box one{box};
    (void)one.publisher.take(deny_all("first"), Keep::No);
    QuiesceBoard& board = one.publisher.board();
    board.join(0);
    const std::weak_ptr<const LoadedRules> first = one.publisher.shared();
    ASSERT_TRUE(std::holds_alternative<Applied>(one.publisher.take(deny_all("second"), Keep::No)));
    EXPECT_FALSE(first.expired());
    one.publisher.tick(Clock::now());
    EXPECT_FALSE(first.expired());
    board.quiescent(0);
    EXPECT_FALSE(first.expired()) << "control frees them, and no worker";
    one.publisher.tick(Clock::now());
    EXPECT_TRUE(first.expired());
    EXPECT_FALSE(one.publisher.shared() == nullptr);
}

// A set that ends the process as soon as it is run is not what the next one starts with.
TEST_F(RulePublisherTest, RulesAreKeptOnceAWorkerHasRunThem) {
    Box one{box};
    QuiesceBoard& board = one.publisher.board();
    board.join(0);
    ASSERT_TRUE(std::holds_alternative<Applied>(one.publisher.take(deny_all("first"), Keep::Yes)));
    EXPECT_EQ(one.source(), "first");
    EXPECT_EQ(kept(), "");
    one.publisher.tick(Clock::now());
    EXPECT_EQ(kept(), "") << "no worker has run them";
    board.quiescent(0);
    one.publisher.tick(Clock::now());
    EXPECT_EQ(kept(), "first");
}

TEST_F(RulePublisherTest, TheNextStartGoesOnWithWhatWasKept) {
    std::uint64_t generation = 0;
    {
        Box one{box};
        const TurningWorker worker{one.publisher.board()};
        (void)one.publisher.take(deny_all("first"), Keep::Yes);
        generation = one.publisher.generation();
        (void)one.publisher.take(deny_all("tried"), Keep::No);
        EXPECT_EQ(one.source(), "tried");
    }
    const Box next{box};
    EXPECT_EQ(next.running(), State::Enforce);
    EXPECT_EQ(next.source(), "first");
    EXPECT_EQ(next.publisher.generation(), generation);
    EXPECT_EQ(next.publisher.kept_rules(), KeptRules::Found);
}

TEST_F(RulePublisherTest, WhereTheKeptCannotBeReadTheBoxSaysWhatItDoes) {
    struct Row {
        OnNoRules on_no_rules;
        State state;
        const char* source;
        KeptRules found;
    };
    for (const Row& row : {Row{OnNoRules::LastGood, State::Enforce, "first", KeptRules::Before},
                           Row{OnNoRules::Pass, State::NoRulesetPass, "", KeptRules::Unreadable},
                           Row{OnNoRules::Drop, State::NoRulesetDrop, "", KeptRules::Unreadable}}) {
        {
            Box one{box};
            const TurningWorker worker{one.publisher.board()};
            (void)one.publisher.take(deny_all("first"), Keep::Yes);
            (void)one.publisher.take(deny_all("second"), Keep::Yes);
        }
        std::ofstream{box.state_dir + "/ruleset.bin", std::ios::binary | std::ios::trunc} << "?";
        box.on_no_rules = row.on_no_rules;
        const Box next{box};
        EXPECT_EQ(next.running(), row.state);
        EXPECT_EQ(next.source(), row.source);
        EXPECT_EQ(next.publisher.kept_rules(), row.found);
    }
}

// The next start has the set that runs: one that cannot be kept gives way to the one before.
TEST_F(RulePublisherTest, WhatCannotBeKeptIsTakenBack) {
    Box one{box};
    const TurningWorker worker{one.publisher.board()};
    (void)one.publisher.take(deny_all("first"), Keep::Yes);
    const std::uint64_t generation = one.publisher.generation();
    const std::string in_the_way = box.state_dir + "/ruleset.bin.new";
    fs::create_directories(in_the_way + "/held");
    EXPECT_TRUE(std::holds_alternative<Failure>(one.publisher.take(deny_all("second"), Keep::Yes)));
    EXPECT_EQ(one.source(), "first");
    EXPECT_EQ(one.publisher.generation(), generation);
    EXPECT_EQ(one.publisher.running().adopt().loaded, one.publisher.shared());
    EXPECT_EQ(kept(), "first");
    fs::remove_all(in_the_way);
    EXPECT_TRUE(std::holds_alternative<Applied>(one.publisher.take(deny_all("second"), Keep::Yes)));
    EXPECT_EQ(kept(), "second");
}

TEST_F(RulePublisherTest, ATrialIsKeptByItsGenerationAlone) {
    Box one{box};
    const TurningWorker worker{one.publisher.board()};
    (void)one.publisher.take(deny_all("tried"), Keep::No);
    const std::uint64_t tried = one.publisher.generation();
    EXPECT_TRUE(std::holds_alternative<Failure>(
        one.publisher.keep({.generation = tried + 1, .forgive = false})));
    EXPECT_EQ(kept(), "");
    EXPECT_TRUE(std::holds_alternative<Applied>(
        one.publisher.keep({.generation = tried, .forgive = false})));
    EXPECT_EQ(kept(), "tried");
}

TEST_F(RulePublisherTest, APanicOutlivesTheProcess) {
    {
        Box one{box};
        const TurningWorker worker{one.publisher.board()};
        (void)one.publisher.take(deny_all("first"), Keep::Yes);
        EXPECT_FALSE(one.publisher.set_panic(true));
        EXPECT_EQ(one.running(), State::Panic);
        EXPECT_FALSE(one.publisher.judges());
    }
    {
        Box next{box};
        EXPECT_TRUE(next.publisher.in_panic());
        EXPECT_EQ(next.running(), State::Panic);
        EXPECT_EQ(next.source(), "first") << "as it would judge";
        EXPECT_TRUE(next.publisher.set_panic(false));
        EXPECT_EQ(next.running(), State::Enforce);
    }
    EXPECT_FALSE(Box{box}.publisher.in_panic());
}

// Lines that remind of a panic, of one turn of control.
int reminders(Box& box, Clock::time_point now) {
    testing::internal::CaptureStderr();
    box.publisher.tick(now);
    const std::string log = testing::internal::GetCapturedStderr();
    int count = 0;
    for (std::size_t at = log.find("panic pass is on"); at != std::string::npos;
         at = log.find("panic pass is on", at + 1)) {
        ++count;
    }
    return count;
}

// Each minute from when it was set, or found at the start, and no longer than it lasts.
TEST_F(RulePublisherTest, APanicIsInTheLogEachMinuteWhileItLasts) {
    {
        Box one{box};
        EXPECT_EQ(reminders(one, Clock::now() + 1h), 0) << "there is none";
        const Clock::time_point before = Clock::now();
        (void)one.publisher.set_panic(true);
        const Clock::time_point set = Clock::now();
        EXPECT_EQ(reminders(one, before + 59s), 0) << "its beginning was said";
        EXPECT_EQ(reminders(one, set + 60s), 1);
        EXPECT_EQ(reminders(one, set + 60s + 100ms), 0);
        EXPECT_EQ(reminders(one, set + 119s), 0);
        EXPECT_EQ(reminders(one, set + 120s), 1);
    }
    const Clock::time_point before = Clock::now();
    Box next{box};
    const Clock::time_point start = Clock::now();
    EXPECT_EQ(reminders(next, before + 59s), 0) << "the start has said it";
    EXPECT_EQ(reminders(next, start + 60s), 1);
    EXPECT_EQ(reminders(next, start + 119s), 0);
    (void)next.publisher.set_panic(false);
    EXPECT_EQ(reminders(next, start + 1h), 0);
}

TEST_F(RulePublisherTest, RulesWithoutTheSumOfTheKeyAreRefused) {
    Box one{box};
    ApplyRules forged = deny_all("forged");
    forged.seal[0] ^= 1U;
    EXPECT_TRUE(std::holds_alternative<Failure>(one.publisher.take(std::move(forged), Keep::No)));
    EXPECT_EQ(one.running(), State::NoRulesetPass);
    ControlStats stats;
    one.publisher.add_to(stats);
    EXPECT_EQ(stats.unsealed, 1U);
}

TEST_F(RulePublisherTest, AMergeIntervalIsWithinItsBounds) {
    struct Row {
        std::uint64_t interval_ns;
        bool fits;
    };
    Box one{box};
    const Nanoseconds before = one.publisher.merge_interval();
    for (const Row& row : {Row{9'000, false}, Row{10'500, false}, Row{1'000'001'000, false},
                           Row{UINT64_MAX, false}, Row{10'000, true}, Row{1'000'000'000, true}}) {
        const Reply reply = one.publisher.set_merge_interval({row.interval_ns});
        EXPECT_EQ(std::holds_alternative<MergeIntervalSet>(reply), row.fits) << row.interval_ns;
        const auto expected = Nanoseconds{static_cast<std::int64_t>(row.interval_ns)};
        EXPECT_EQ(one.publisher.merge_interval(), row.fits ? expected : before);
        EXPECT_EQ(one.publisher.running().adopt().loaded->merge_interval(),
                  row.fits ? expected : before);
    }
}

}  // namespace
}  // namespace sluice::rule_publisher_test
