#pragma once
#include <chrono>
#include <cstdint>

namespace sluice {

// A link that has just been brought up needs a while until it has carrier (autonegotiation). Until
// then its silence says nothing; without this, two sides that free each other would take turns in
// holding each other down.
class LinkSettling {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kPatience{5};

    void begin(Clock::time_point now) noexcept { until_ = now + kPatience; }

    // True if the link counts as up for the other side's sake. Seeing carrier ends the wait.
    [[nodiscard]] bool counts_as_up(bool carrier, Clock::time_point now) noexcept {
        if (carrier) {
            until_ = {};
        }
        return carrier || now < until_;
    }

private:
    Clock::time_point until_{};
};

// The action for the two sides of a pair, from what their links were and are.
//
// A side that loses its link takes the other down, so that routing behind it notices; when it comes
// back, so does the other. A side that we hold down says nothing about its own link, so it never
// holds the other: the pair cannot lock itself.
class LinkFollow {
public:
    struct Side {
        bool carrier = true;  // meaningless while held
        bool held_down = false;
    };
    enum class Action : std::uint8_t { None, HoldOutside, HoldInside, FreeOutside, FreeInside };

    // The next step; None when there is none. Ask again after it was taken.
    [[nodiscard]] static constexpr Action next(const Side& outside, const Side& inside) noexcept {
        if (inside.held_down) {
            return outside.carrier ? Action::FreeInside : Action::None;
        }
        if (outside.held_down) {
            return inside.carrier ? Action::FreeOutside : Action::None;
        }
        if (!outside.carrier) {
            return Action::HoldInside;
        }
        return inside.carrier ? Action::None : Action::HoldOutside;
    }
};

}  // namespace sluice
