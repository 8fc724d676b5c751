#pragma once
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/engine/key/key_question.hpp"
#include "lib/engine/key/rule_keys.hpp"
#include "lib/rules/load/loaded_set.hpp"

#include <cstdint>

namespace sluice {

// Tells core.events of the keys that rules with `events` have refused in a burst that has been
// judged: each limit that refuses now, under the key that it counts for.
void note_refusals(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept;

// The same of a ban that begins in one of the rule's boxes, of the key itself or, by level, of a
// wider network; for rules that report bans.
void note_ban(const RuleKeys& keys, const LoadedLimit& box, std::uint8_t aggregation_level,
              const CheckContext& context) noexcept;

// Between bursts, by the owner of `core`: tells what has come due. The buckets themselves say
// whether it has.
void notify_due_events(const LoadedSet& set, CoreState& core, Now now) noexcept;

// The same, after an operator has changed the key's buckets or lifted its ban.
void look_again(const KeyQuestion& question, const LoadedSet& set, CoreState& core,
                Now now) noexcept;

}  // namespace sluice
