#pragma once
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <variant>

namespace sluice {

// The way into expensive work that several ask for: one is inside, and of each asker one waits, in
// the order in which the askers came. So whoever asks often delays another by one turn, and nobody
// waits behind an asker's many.
class FairTurns {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds kNoPatience = std::chrono::hours{24};
    // The asker where all callers are one: the newest of them is the one that is wanted.
    static constexpr const char* kOneAsker = "";

    // The fate of a call whose asker has another that waits. Supersedes: it takes the place of that
    // one, since its outcome is the one that is wanted. Refused: one is enough. Waits: it stands
    // behind that one, and takes no place of other askers.
    enum class Another : std::uint8_t { Supersedes, Refused, Waits };

    struct Terms {
        Another another = Another::Supersedes;
        std::size_t most_waiting = 8;                      // askers
        std::chrono::milliseconds patience = kNoPatience;  // the longest wait for a turn
        // Behind a turn there is a pause of so many times its length, in which nobody is inside but
        // who waits for no pause.
        unsigned pause = 0;
    };

    // The right to be inside, given back with it.
    class Turn {
    public:
        Turn(Turn&& other) noexcept;
        Turn& operator=(Turn&&) = delete;
        ~Turn();

    private:
        friend class FairTurns;
        explicit Turn(FairTurns& owner) noexcept : owner_{&owner}, begun_{Clock::now()} {}
        FairTurns* owner_;  // nullptr: moved away
        Clock::time_point begun_;
    };
    enum class Refused : std::uint8_t {
        Superseded,  // a newer caller of the same asker came
        Crowded,     // as many others wait as may, or one of the asker's own
        TooLong,     // no turn came as long as the patience lasted
    };
    struct Asker {
        std::string name;
        bool skips_pause = false;
    };

    FairTurns() = default;
    explicit FairTurns(const Terms& terms) : terms_{terms} {}

    // Waits for the turn.
    [[nodiscard]] std::variant<Turn, Refused> enter(const Asker& asker);
    [[nodiscard]] std::variant<Turn, Refused> enter(const std::string& asker) {
        return enter(Asker{asker});
    }

    [[nodiscard]] std::size_t waiting() const;
    [[nodiscard]] const Terms& terms() const noexcept { return terms_; }

private:
    struct Waiting {
        std::string asker;
        std::uint64_t caller;
        bool skips_pause;
    };
    [[nodiscard]] Waiting* waiting_of(const std::string& asker);
    [[nodiscard]] bool is_superseded(const std::string& asker, std::uint64_t caller);
    [[nodiscard]] bool queue_up(const Asker& asker, std::uint64_t caller);
    [[nodiscard]] bool wait_for_own(std::unique_lock<std::mutex>& lock, const std::string& asker,
                                    Clock::time_point until);
    [[nodiscard]] bool is_next(std::uint64_t caller) const;
    void leave(Clock::time_point begun);

    Terms terms_;
    mutable std::mutex mutex_;  // never held during the work
    std::condition_variable changed_;
    std::deque<Waiting> queue_;
    std::string inside_;  // the asker who is; valid while `taken_`
    Clock::time_point pause_ends_{};
    std::uint64_t callers_ = 0;
    bool taken_ = false;
};

}  // namespace sluice
