#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

namespace sluice {

// The way into expensive work whose outcome the next one replaces: one is inside, one waits, and
// a newer one takes the place of the one that waits. So there is no queue, and however many come,
// the newest is served after at most one other.
class NewestNext {
public:
    // The right to be inside, given back with it.
    class Turn {
    public:
        Turn(Turn&& other) noexcept;
        Turn& operator=(Turn&&) = delete;
        ~Turn();

    private:
        friend class NewestNext;
        explicit Turn(NewestNext& owner) noexcept : owner_{&owner} {}
        NewestNext* owner_;
    };

    // Waits for the turn. nullopt: a newer caller has taken the place of this one.
    [[nodiscard]] std::optional<Turn> enter();

    [[nodiscard]] bool has_waiting() const;

private:
    void leave();

    mutable std::mutex mutex_;  // never held during the work
    std::condition_variable changed_;
    std::uint64_t newest_ = 0;  // counts callers
    bool taken_ = false;
    bool waiting_ = false;
};

}  // namespace sluice
