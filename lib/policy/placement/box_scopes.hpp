#pragma once
#include "lib/policy/clauses/overlaps.hpp"
#include "lib/policy/clauses/set_pool.hpp"
#include "lib/policy/compile.hpp"
#include "lib/rules/port_rss_mapping.hpp"

#include <vector>

namespace sluice {

// Decides for a box on which workers the packets of each limit's key arrive, and writes it into the
// summaries, the limits and the rules of the set:
//
//   local    they come to one worker, and none of its rule's packets is handed over
//   merged   the workers share it (lib/peer/merge)
//   owner    what cannot be shared: they are handed to one worker
//
// A packet is handed over once, so all limits at owners that may judge one and the same packet are
// one group, with one owner: by what all of their keys have in common. What was local is not where
// a packet of its rule may be handed over on another's account; it is merged then, or joins them.
// `placed`: beside each rule of the set.
void decide_scopes(CompiledRules& compiled, const std::vector<PlacedRule>& placed,
                   const SetPool& pool, const RssMapping& box);

}  // namespace sluice
