#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <variant>

namespace sluice {

// The way into expensive work that several ask for, each of whom wants the newest of their own: one
// is inside, and one of each asker waits, in the order in which the askers came. A newer one takes
// the place of the asker's own that waits and of nobody else's, so that who asks at each keystroke
// delays another by one turn, and whoever waits is served behind those before.
class FairTurns {
public:
    static constexpr std::size_t kMostWaiting = 8;  // askers

    // The right to be inside, given back with it.
    class Turn {
    public:
        Turn(Turn&& other) noexcept;
        Turn& operator=(Turn&&) = delete;
        ~Turn();

    private:
        friend class FairTurns;
        explicit Turn(FairTurns& owner) noexcept : owner_{&owner} {}
        FairTurns* owner_;
    };
    enum class Refused : std::uint8_t {
        Superseded,  // a newer caller of the same asker came
        Crowded,     // as many others wait as may
    };

    // Waits for the turn.
    [[nodiscard]] std::variant<Turn, Refused> enter(const std::string& asker);

    [[nodiscard]] std::size_t waiting() const;

private:
    struct Waiting {
        std::string asker;
        std::uint64_t caller;
    };
    [[nodiscard]] Waiting* waiting_of(const std::string& asker);
    void leave();

    mutable std::mutex mutex_;  // never held during the work
    std::condition_variable changed_;
    std::deque<Waiting> queue_;
    std::uint64_t callers_ = 0;
    bool taken_ = false;
};

}  // namespace sluice
