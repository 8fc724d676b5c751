#pragma once
#include "lib/load/loaded_set.hpp"
#include "lib/pipeline/burst.hpp"
#include "lib/pipeline/core_state.hpp"

namespace sluice {

// One packet being judged under one rule set.
struct Judging {
    const LoadedSet& set;
    CoreState& core;
    Now now;
    const Packet& packet;
};

// The colour a packet comes with: the drop precedence of assured forwarding (RFC 2597), else green.
[[nodiscard]] Color color_of(const Flow& flow) noexcept;

// Finds or makes the bucket of a look and asks it. Afterwards look.entry is held until settled, or
// is nullptr if the key found no place and the rule's on_full decided.
void look_at(Look& look, const LoadedLimit& limit, const LoadedRule& rule,
             const Judging& judging) noexcept;

// The same for a bucket of the given step (0: the key's own), and no other: what finds no place
// there is counted as on_full says. False: it found none.
[[nodiscard]] bool look_at_step(Look& look, const LoadedLimit& limit, const LoadedRule& rule,
                                const Judging& judging, std::uint8_t step) noexcept;

// Charges a look that was admitted, or, when `rejected`, whatever fits of its cost; both end the
// hold.
void settle(Look& look, const Judging& judging, bool spends, bool rejected) noexcept;

}  // namespace sluice
