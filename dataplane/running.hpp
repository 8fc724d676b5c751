#pragma once
#include "lib/rules/rule_set.hpp"

#include <cstdint>

namespace sluice {

// What all workers act on, adopted at the top of a burst. Never changed once published.
struct Running {
    enum class State : std::uint8_t {
        NoRules,  // none was ever loaded: everything is forwarded unjudged
        Enforce,
        Panic,  // forwarded unjudged, whatever the rules say
    };
    State state = State::NoRules;
    RuleSet rules;
};

}  // namespace sluice
