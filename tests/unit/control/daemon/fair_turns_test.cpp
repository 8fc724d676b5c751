#include "control/daemon/fair_turns.hpp"

#include <gtest/gtest.h>

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
std::future<std::optional<Refused>> enter(FairTurns& turns, const std::string& asker,
                                          Served& served) {
    return std::async(std::launch::async, [&turns, asker, &served]() -> std::optional<Refused> {
        const auto turn = turns.enter(asker);
        if (const auto* const refused = std::get_if<Refused>(&turn)) {
            return *refused;
        }
        served.add(asker);
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

TEST(FairTurns, ANewerOneTakesThePlaceOfTheAskersOwnAlone) {
    FairTurns turns;
    Served served;
    auto inside = std::make_optional(turns.enter("typist"));
    auto quiet = enter(turns, "quiet", served);
    wait_for_waiting(turns, 1);
    auto before = enter(turns, "typist", served);
    wait_for_waiting(turns, 2);
    for (int key = 0; key < 20; ++key) {
        auto next = enter(turns, "typist", served);
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
    for (std::size_t i = 0; i < FairTurns::kMostWaiting; ++i) {
        names.push_back("asker " + std::to_string(i));
        waiting.push_back(enter(turns, names.back(), served));
        wait_for_waiting(turns, i + 1);
    }
    auto crowded = enter(turns, "one more", served);
    EXPECT_EQ(outcome_of(crowded), Refused::Crowded);
    inside.reset();
    for (auto& one : waiting) {
        EXPECT_EQ(outcome_of(one), std::nullopt);
    }
    EXPECT_EQ(served.askers(), names) << "in the order in which they came";
    EXPECT_TRUE(std::holds_alternative<FairTurns::Turn>(turns.enter("one more")));
}

}  // namespace
}  // namespace sluice::fair_turns_test
