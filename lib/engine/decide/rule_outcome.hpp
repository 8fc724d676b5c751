#pragma once
#include "lib/bucket/meter/color_meter.hpp"
#include "lib/packet/verdict.hpp"
#include "lib/respond/action.hpp"
#include "lib/rules/load/loaded_set.hpp"

#include <cstdint>

namespace sluice {

// The outcome of the limits of one rule.
struct RuleOutcome {
    bool evaluated = false;      // at least one limit counts this packet
    bool refused = false;        // by a limit, or by what its colour means
    bool over_limit = false;     // refused by a limit, not for want of a place
    bool no_credit = false;      // refused since this worker is too far ahead of the key's owner
    bool no_answer = false;      // or since that could not be asked in time
    bool exceeded = false;       // on_exceed applies
    bool exempt = false;         // the key is: no limit was asked
    bool banned = false;         // the same of one in a penalty box
    bool colored = false;        // on_color applies
    Color color = Color::Green;  // the worst of its colour meters
    Nanoseconds wait{};          // the longest of the refusing limits, or the rest of the ban
    std::uint8_t key = 0;        // of the limit with that wait, the first of equals; or the banned
    const LoadedLimit* limit = nullptr;   // that limit, the first that refused where none waits
    const ShapeValues* shape = nullptr;   // of on_exceed; nullptr: another action
    bool in_time = true;                  // no limit holds the packet for longer than that says
    Nanoseconds delay{};                  // until all of them let it depart
    const LoadedLimit* holder = nullptr;  // the limit with that delay, the first of equals

    [[nodiscard]] bool can_be_held() const noexcept {
        return shape != nullptr && over_limit && in_time;
    }
};

// The action that a rule wants for a packet, and why.
struct Weight {
    ActionIndex action;
    Reason reason;
    std::uint8_t key;
    std::uint8_t limit;
};

}  // namespace sluice
