#pragma once
#include "lib/engine/key/rule_keys.hpp"

#include <cstdint>
#include <span>

namespace sluice {

// The ban that the packets of a key meet.
struct BoxBan {
    Nanoseconds left{};                  // 0: none
    std::uint8_t aggregation_level = 0;  // of the wider network whose ban it is; 0: the key's own
};

// The penalty boxes of a rule with a ban. A refusal is noted where the bucket lies
// that refused:
//
//   the key's own bucket     the key's own box
//   a wider key's (on_full)  that network's box, with `after` times the factor
//   the rule's               nowhere: no rule bans everybody at once
//
// Where several workers share a key, each notes what it refuses in its own box, and looks into
// those of the others: all refusals together are a ban, and it holds at all of them at once.
//
// A key meets its own ban, or, as long as it has no bucket of its own, that of a network which it
// would be charged to.
class PenaltyBoxes {
public:
    PenaltyBoxes(const RuleKeys& keys, CoreState& core, Now now) noexcept
        : keys_{keys}, core_{core}, now_{now} {}

    // The ban in one of the rule's boxes.
    [[nodiscard]] BoxBan ban_in(const LoadedLimit& box) const noexcept;
    // The refusals of the key that count, here; 0 while it is banned.
    [[nodiscard]] Units refusals_in(const LoadedLimit& box) const noexcept;
    // True if the rule's bans hold for all that a source sends (`applies_to: source`).
    [[nodiscard]] bool holds_for_sources() const noexcept;
    // True if packets of the key meet the boxes of wider networks, having none of their own here.
    [[nodiscard]] bool meets_wider(const LoadedLimit& box) const noexcept;

    // Notes, once for each key of a packet, what the limits have just refused; `yellow` says
    // whether their second colour is a refusal. How many bans began by that.
    [[nodiscard]] unsigned note(std::span<const LimitCheck> checks, bool yellow,
                                const CheckContext& context) const noexcept;

private:
    [[nodiscard]] Nanoseconds left_in(Entry* entry) const noexcept;
    [[nodiscard]] bool has_bucket(std::uint8_t key) const noexcept;
    [[nodiscard]] BoxBan ban_here(const LoadedLimit& box) const noexcept;
    [[nodiscard]] bool is_last_of_all(const LimitCheck& check,
                                      const LoadedLimit& box) const noexcept;
    void ban_now(LimitCheck& check, const LoadedLimit& box) const noexcept;
    [[nodiscard]] bool bans_now(const LoadedLimit& box, std::uint8_t aggregation_level,
                                const CheckContext& context) const noexcept;
    void notify(const LoadedLimit& box, std::uint8_t aggregation_level,
                const CheckContext& context) const noexcept;

    const RuleKeys& keys_;
    CoreState& core_;
    Now now_;
};

}  // namespace sluice
