#pragma once
#include "lib/load/loaded_set.hpp"
#include "lib/meter/any_meter.hpp"
#include "lib/table/entry.hpp"

#include <cstdint>

namespace sluice {

// One rule that matches one packet, as the general path sees it.
struct Match {
    std::uint32_t rule = 0;   // index in the rule set
    std::uint32_t first = 0;  // of its looks
    bool skipped = false;     // a key part is missing, so the rule does not apply
    bool refused = false;     // one of its limits did not admit the packet
};

// One limit looked at for one packet by the general path.
struct alignas(64) LimitCheck {
    TableKey key;
    Units cost;
    const AnyLimit* numbers = nullptr;  // that it is judged by: the limit's own, or coarser ones
    // Where its bucket lies, held from the look to the charge.
    Entry* entry = nullptr;
    union {
        std::uint64_t digest = 0;  // of its key; once the key's overrides have been looked up:
        const LimitOverride* own;  // the numbers that the key has; nullptr: the limit's
    };
    Conformance conformance = Conformance::Red;
    bool asked = false;  // the packet carries what this limit counts
};

}  // namespace sluice
