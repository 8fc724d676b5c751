#pragma once
#include "control/daemon/api/listed_entries.hpp"
#include "control/daemon/api/sought.hpp"
#include "control/daemon/rule_change.hpp"
#include "control/json.hpp"
#include "lib/policy/expression/expression.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

// The outcome of a condition for packets of which one field alone is known.
enum class Truth : std::uint8_t { No, Maybe, Yes };

// The answer of a condition's lists about what is sought, as far as it is known.
enum class ListsSay : std::uint8_t { Unknown, NotNamed };

// The field is one by its name in the language: client.ip has several. Of ip.src and ip.dst the
// version of all the packet's addresses is known too. Lists are not looked into.
[[nodiscard]] Truth truth_of(const Expression& condition, std::string_view field,
                             const Sought& sought, ListsSay lists = ListsSay::Unknown);

// True if some packet in which what is sought is an address, or a name, can match the rule. Outer
// addresses and client.ip are looked at where the condition names them.
[[nodiscard]] bool may_match(const RuleSummary& rule, const Sought& sought,
                             ListsSay lists = ListsSay::Unknown);
// The one of ip.src and ip.dst as which alone an address may match the rule; empty: both, or none.
[[nodiscard]] std::string_view side_met(const RuleSummary& rule, const Sought& sought,
                                        ListsSay lists = ListsSay::Unknown);

// The comparisons of the rule's condition that name what is sought, each as
// {"field":"ip.src","except":false,"list":"bad","entry":"10.0.0.0/8","line":3,"others":0}; without
// a list its members are null. `except`: the condition holds of others. Fields of names alone name
// a host or an address; a key is the whole of any text.
[[nodiscard]] Json named_in(const RuleSummary& rule, const Sought& sought, ListedEntries& lists);

}  // namespace sluice
