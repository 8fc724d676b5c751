#pragma once
#include "lib/policy/rules/notify_terms.hpp"
#include "lib/policy/yaml/map_reader.hpp"

#include <optional>

namespace sluice {

// Reads `notify` of a rule: the name of a webhook, or {to: NAME, on: [ban, limit, over, state]}.
// `targets` nullptr: names are taken as they are. nullopt: there is none, or what is wrong was
// reported.
[[nodiscard]] std::optional<NotifyTerms> read_notify(const MapReader& rule,
                                                     const NotifyTargets* targets,
                                                     const ReadContext& context);

}  // namespace sluice
