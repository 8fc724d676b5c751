#pragma once
#include "lib/load/loaded_rules.hpp"

#include <cstdint>
#include <memory>

namespace sluice {

// What all workers act on, adopted at the top of a burst. Never changed once published. The same
// rules may be published again in another state: panic is in force without their being copied, and
// is over without their being made again.
struct Running {
    enum class State : std::uint8_t {
        NoRuleset,  // none was ever loaded: everything is forwarded unjudged
        Enforce,
        Panic,  // forwarded unjudged, whatever the rules say
    };
    State state = State::NoRuleset;
    std::shared_ptr<const LoadedRules> loaded = std::make_shared<const LoadedRules>();

    [[nodiscard]] const LoadedSet& rules() const noexcept { return loaded->set(); }
};

}  // namespace sluice
