#pragma once
#include "lib/base/now.hpp"
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/engine/check/check_limit.hpp"
#include "lib/packet/neighbour_discovery.hpp"
#include "lib/packet/row_mask.hpp"
#include "lib/respond/decision.hpp"
#include "lib/rules/load/loaded_set.hpp"

// Bans that hold for all that a source sends (`ban: {applies_to: source}`), behind the budgets of
// `bypass` and before the rules. Such a ban is the entry of its key in the rule's penalty box, or
// an operator's, and nothing else is kept of it: so it is found at whatever worker has begun it, in
// the tables of earlier processes and until somebody lifts it.
//
//   parsed      Scratch::banned: all rows of a burst at once, their lines prefetched, where some
//               rule may have banned anybody at all
//   matched     they are dropped, and neither keyed nor handed over, but for those that the general
//               path decides, where a budget may come first
//   metered     a ban that has begun here since then adds the rows that are still to be decided
namespace sluice {

// Finds the rows of a parsed burst whose sources are banned. Their decisions are the drop, by the
// first rule of the set that has banned them. Neighbour discovery meets the rules, whoever sends
// it, and so does what has no source.
void find_all_bans(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept;
inline void find_bans(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept {
    if (!set.source_bans.empty()) [[unlikely]] {
        find_all_bans(burst, set, core, now);
    }
}

// The same in a matched burst for bans that have begun here since, if any have.
void find_bans_begun(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept;
// The same for the rows behind one that has begun some. Those that it decides now; others that are
// found are left to the general path.
[[nodiscard]] RowMask find_bans_begun_by(BurstRow row, const LoadedSet& set, CoreState& core,
                                         Now now) noexcept;

// Counts a packet that has been dropped so.
inline void count_source_ban(const Decision& decision, const LoadedSet& set,
                             const CoreState& core) noexcept {
    core.counters.bans[set.rules[decision.rule].counters].banned_sources.add(1);
}
// Counts those of a decided burst that the general path has not.
void count_banned(const Burst& burst, const LoadedSet& set, const CoreState& core) noexcept;

// True of neighbour discovery under such a rule: whoever is banned is still a neighbour, whom its
// limits go on holding.
[[nodiscard]] inline bool is_out_of_ban(const LoadedRule& rule,
                                        const CheckContext& context) noexcept {
    return rule.ban.applies_to == BanScope::Source &&
           is_neighbour_discovery(context.packet_headers());
}

// True if a refusal is one towards a ban of the rule. A ban of a source would hit others where
// addresses are forged: it takes a handshake as the proof that the sender is there.
[[nodiscard]] inline bool counts_refusals(const LoadedRule& rule,
                                          const CheckContext& context) noexcept {
    return rule.bans() && !context.ask.is_dry_run() &&
           (rule.ban.applies_to == BanScope::Key || rule.ban.spoofable || context.is_proven);
}

}  // namespace sluice
