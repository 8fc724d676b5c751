#pragma once
#include "lib/rules/load/loaded_rules.hpp"
#include "lib/watch/trace/trace.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace sluice {

// The rule set and state that all workers act on, adopted at the top of a burst. Never changed once
// published. The same rules may be published again in another state: panic is in force without
// their being copied, and is over without their being made again.
struct Running {
    enum class State : std::uint8_t {
        NoRulesetPass,  // there is none: everything is forwarded unjudged
        NoRulesetDrop,  // likewise, and nothing is
        Enforce,
        Panic,  // forwarded unjudged, whatever the rules say
    };
    State state = State::NoRulesetPass;
    std::shared_ptr<const LoadedRules> loaded = std::make_shared<const LoadedRules>();
    std::vector<ActiveTrace> traces;  // none, mostly

    [[nodiscard]] const LoadedSet& rules() const noexcept { return loaded->set(); }
};

}  // namespace sluice
