#include "control/daemon/fair_turns.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace sluice::fair_turns_test {
namespace {

using namespace std::chrono_literals;
using Another = FairTurns::Another;
using Refused = FairTurns::Refused;
constexpr auto kPatience = 30s;

// Who has been inside, in their order.
class Served {
public:
    void add(const std::string& asker) {
        const std::lock_guard lock{mutex_};
        askers_.push_back(asker);
    }
    std::vector<std::string> askers() const {
        const std::lock_guard lock{mutex_};
        return askers_;
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::string> askers_;
};

// Somebody who enters in a thread of his own; nullopt: he was let in.
std::future<std::optional<Refused>> enter(FairTurns& turns, const FairTurns::Asker& asker,
                                          Served& served) {
    return std::async(std::launch::async, [&turns, asker, &served]() -> std::optional<Refused> {
        const auto turn = turns.enter(asker);
        if (const auto* const refused = std::get_if<Refused>(&turn)) {
            return *refused;
        }
        served.add(asker.name);
        return std::nullopt;
    });
}

void wait_for_waiting(const FairTurns& turns, std::size_t count) {
    for (int i = 0; i < 30'000 && turns.waiting() != count; ++i) {
        std::this_thread::sleep_for(1ms);
    }
    ASSERT_EQ(turns.waiting(), count);
}

std::optional<Refused> outcome_of(std::future<std::optional<Refused>>& asked) {
    EXPECT_EQ(asked.wait_for(kPatience), std::future_status::ready);
    return asked.get();
}

TEST(FairTurns, OneAfterAnother) {
    FairTurns turns;
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(std::holds_alternative<FairTurns::Turn>(turns.enter(FairTurns::kOneAsker)));
        EXPECT_EQ(turns.waiting(), 0U);
    }
}

TEST(FairTurns, ANewerOneTakesThePlaceOfTheAskersOwnAlone) {
    FairTurns turns;
    Served served;
    auto inside = std::make_optional(turns.enter("typist"));
    auto quiet = enter(turns, {"quiet"}, served);
    wait_for_waiting(turns, 1);
    auto before = enter(turns, {"typist"}, served);
    wait_for_waiting(turns, 2);
    for (int key = 0; key < 20; ++key) {
        auto next = enter(turns, {"typist"}, served);
        EXPECT_EQ(outcome_of(before), Refused::Superseded);
        before = std::move(next);
    }
    EXPECT_EQ(turns.waiting(), 2U);
    inside.reset();
    EXPECT_EQ(outcome_of(quiet), std::nullopt) << "whoever types sends nobody else away";
    EXPECT_EQ(outcome_of(before), std::nullopt) << "and has the newest served";
    EXPECT_EQ(served.askers(), (std::vector<std::string>{"quiet", "typist"}));
}

TEST(FairTurns, SoManyWaitAndNoMore) {
    FairTurns turns;
    Served served;
    auto inside = std::make_optional(turns.enter("first"));
    std::vector<std::future<std::optional<Refused>>> waiting;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < turns.terms().most_waiting; ++i) {
        names.push_back("asker " + std::to_string(i));
        waiting.push_back(enter(turns, {names.back()}, served));
        wait_for_waiting(turns, i + 1);
    }
    auto crowded = enter(turns, {"one more"}, served);
    EXPECT_EQ(outcome_of(crowded), Refused::Crowded);
    inside.reset();
    for (auto& one : waiting) {
        EXPECT_EQ(outcome_of(one), std::nullopt);
    }
    EXPECT_EQ(served.askers(), names) << "in the order in which they came";
    EXPECT_TRUE(std::holds_alternative<FairTurns::Turn>(turns.enter("one more")));
}

// However many one asker sends, one of them waits: whoever comes later is served next.
TEST(FairTurns, OneOfEachAskerWaits) {
    FairTurns turns{{.another = Another::Refused}};
    Served served;
    auto inside = std::make_optional(turns.enter("mallory"));
    auto second = enter(turns, {"mallory"}, served);
    wait_for_waiting(turns, 1);
    for (int i = 0; i < 20; ++i) {
        auto another = enter(turns, {"mallory"}, served);
        EXPECT_EQ(outcome_of(another), Refused::Crowded);
    }
    auto other = enter(turns, {"oscar"}, served);
    wait_for_waiting(turns, 2);
    inside.reset();
    EXPECT_EQ(outcome_of(second), std::nullopt);
    EXPECT_EQ(outcome_of(other), std::nullopt);
}

TEST(FairTurns, AnAskersOthersWaitBehindItsOwn) {
    FairTurns turns{{.another = Another::Waits, .most_waiting = 2}};
    Served served;
    auto inside = std::make_optional(turns.enter("mallory"));
    std::vector<std::future<std::optional<Refused>>> theirs;
    for (int i = 0; i < 16; ++i) {
        theirs.push_back(enter(turns, {"mallory"}, served));
    }
    auto other = enter(turns, {"oscar"}, served);
    wait_for_waiting(turns, 1);
    inside.reset();
    EXPECT_EQ(outcome_of(other), std::nullopt);
    for (auto& one : theirs) {
        EXPECT_EQ(outcome_of(one), std::nullopt) << "each is served in the end";
    }
}

TEST(FairTurns, WhoWaitsForTooLongIsSentAway) {
    for (const Another another : {Another::Supersedes, Another::Refused, Another::Waits}) {
        FairTurns turns{{.another = another, .patience = 1ms}};
        Served served;
        const auto inside = turns.enter("ada");
        auto other = enter(turns, {"bob"}, served);
        EXPECT_EQ(outcome_of(other), Refused::TooLong);
        EXPECT_EQ(turns.waiting(), 0U) << "and leaves no place taken";
        auto own = enter(turns, {"ada"}, served);
        EXPECT_EQ(outcome_of(own), Refused::TooLong);
    }
}

// A turn of an hour's pause: nobody but who waits for none comes in before the patience ends.
TEST(FairTurns, WhoSkipsThePauseIsServedInIt) {
    FairTurns turns{{.another = Another::Refused, .patience = 200ms, .pause = 1'000'000}};
    Served served;
    {
        const auto first = turns.enter("tenant");
        std::this_thread::sleep_for(4ms);
    }
    auto tenant = enter(turns, {"tenant"}, served);
    auto admin = enter(turns, {"", true}, served);
    EXPECT_EQ(outcome_of(admin), std::nullopt);
    EXPECT_EQ(outcome_of(tenant), Refused::TooLong);
    EXPECT_EQ(served.askers(), std::vector<std::string>{""});
}

TEST(FairTurns, APauseEnds) {
    FairTurns turns{{.another = Another::Refused, .patience = kPatience, .pause = 3}};
    Served served;
    FairTurns::Clock::time_point left;
    {
        const auto first = turns.enter("tenant");
        std::this_thread::sleep_for(5ms);
        left = FairTurns::Clock::now();
    }
    auto next = enter(turns, {"other"}, served);
    EXPECT_EQ(outcome_of(next), std::nullopt);
    EXPECT_GE(FairTurns::Clock::now() - left, 15ms);
}

TEST(FairTurns, NeverTwoInsideAndTheLastIsNeverLost) {
    FairTurns turns;
    std::atomic<int> inside = 0;
    std::atomic<int> most = 0;
    std::atomic<int> served = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&, name = i % 2 == 0 ? std::string{} : std::to_string(i)] {
            for (int round = 0; round < 200; ++round) {
                const auto turn = turns.enter(name);
                if (std::holds_alternative<FairTurns::Turn>(turn)) {
                    most = std::max(most.load(), ++inside);
                    std::this_thread::yield();
                    --inside;
                    ++served;
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(most, 1);
    EXPECT_GE(served, 4 * 200) << "nobody supersedes who asks under a name of its own";
    EXPECT_TRUE(std::holds_alternative<FairTurns::Turn>(turns.enter(FairTurns::kOneAsker)))
        << "nobody has kept a turn";
}

}  // namespace
}  // namespace sluice::fair_turns_test
