#pragma once
#include "lib/match/text_scratch.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace sluice {

// By worker, which alone touches its own: what the texts of a rule set are looked at with.
using TextScratches = std::vector<std::unique_ptr<TextScratch>>;

// Rules, ready for workers.
struct Loaded {
    RuleSet rules;
    TextScratches texts;           // for the rules; none before there are any
    Nanoseconds merge_interval{};  // for limits that workers share
};

// What all workers act on, adopted at the top of a burst. Never changed once published. The same
// rules may be published again in another state: panic is in force without their being copied, and
// is over without their being made again.
struct Running {
    enum class State : std::uint8_t {
        NoRules,  // none was ever loaded: everything is forwarded unjudged
        Enforce,
        Panic,  // forwarded unjudged, whatever the rules say
    };
    State state = State::NoRules;
    std::shared_ptr<const Loaded> loaded = std::make_shared<const Loaded>();

    [[nodiscard]] const RuleSet& rules() const noexcept { return loaded->rules; }
};

}  // namespace sluice
