#pragma once
#include "lib/match/text_scratch.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace sluice {

// By worker, which alone touches its own: what the texts of a rule set are looked at with.
using TextScratches = std::vector<std::unique_ptr<TextScratch>>;

// What all workers act on, adopted at the top of a burst. Never changed once published.
struct Running {
    enum class State : std::uint8_t {
        NoRules,  // none was ever loaded: everything is forwarded unjudged
        Enforce,
        Panic,  // forwarded unjudged, whatever the rules say
    };
    State state = State::NoRules;
    RuleSet rules;
    TextScratches texts;  // for the rules; none before there are any
};

}  // namespace sluice
