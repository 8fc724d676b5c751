#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/now.hpp"
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/engine/check/check_limit.hpp"
#include "lib/packet/neighbour_discovery.hpp"
#include "lib/packet/packet_headers.hpp"
#include "lib/respond/decision.hpp"
#include "lib/rules/load/loaded_set.hpp"

#include <optional>

// Bans that hold for all that a source sends (`ban: {applies_to: source}`): looked up behind the
// budgets of `bypass` and before the rules. Such a ban is the entry of its key in the rule's
// penalty box, or an operator's, and nothing else is kept of it: so it is found at whatever worker
// has begun it, in the tables of earlier processes and until somebody lifts it.
namespace sluice {

struct SentPacket {
    const PacketHeaders& headers;
    ByteView frame;
};

// The drop of a packet whose source is banned, by the first rule of the set that says so; nullopt:
// it meets the rules. Neighbour discovery does, whoever sends it.
[[nodiscard]] std::optional<Decision> find_source_ban(const SentPacket& packet,
                                                      const LoadedSet& set, CoreState& core,
                                                      Now now) noexcept;

// Counts a packet that has been dropped so.
inline void count_source_ban(const Decision& decision, const LoadedSet& set,
                             CoreState& core) noexcept {
    core.counters.bans[set.rules[decision.rule].counters].banned_sources.add(1);
}

// True of a packet that meets such a ban; it is what decides.
[[nodiscard]] inline bool is_of_banned_source(const CheckContext& context,
                                              Decision& decision) noexcept {
    if (context.set.source_bans.empty()) [[likely]] {
        return false;
    }
    const std::optional<Decision> banned = find_source_ban(
        {context.packet_headers(), context.frame()}, context.set, context.core, context.now);
    decision = banned.value_or(decision);
    return banned.has_value();
}

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
    return rule.bans() && !context.ask.is_rehearsal() &&
           (rule.ban.applies_to == BanScope::Key || rule.ban.spoofable || context.is_proven);
}

// Drops a packet so that is not left to the general path, which looks itself.
[[nodiscard]] bool drop_banned_source(BurstRow at, const LoadedSet& set, CoreState& core,
                                      Now now) noexcept;

}  // namespace sluice
