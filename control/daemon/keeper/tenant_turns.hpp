#pragma once
#include <chrono>
#include <mutex>
#include <optional>

namespace sluice {

// Changes of tenants' rules, one at a time. Between two of them there is a pause as long as three
// times the first: a change of an operator's that had to begin anew for one is through before the
// next, however many tenants change theirs.
class TenantTurns {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kMostWait{5};
    static constexpr int kPause = 3;

    class Turn {
    public:
        explicit Turn(TenantTurns& turns) noexcept : turns_{&turns}, begun_{Clock::now()} {}
        Turn(Turn&& other) noexcept : turns_{other.turns_}, begun_{other.begun_} {
            other.turns_ = nullptr;
        }
        Turn& operator=(Turn&&) = delete;
        ~Turn();

    private:
        TenantTurns* turns_;  // nullptr: moved away
        Clock::time_point begun_;
    };

    // Waits for the turn and the pause before it. nullopt: that would take longer than kMostWait.
    [[nodiscard]] std::optional<Turn> enter();

private:
    std::timed_mutex taken_;
    Clock::time_point ready_at_{};  // by who has taken it
};

}  // namespace sluice
