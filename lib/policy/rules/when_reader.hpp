#pragma once
#include "lib/policy/rules/rule_reader.hpp"

namespace sluice {

// The expression in a scalar; its first error and its warnings are reported at their places.
// nullopt after an error.
[[nodiscard]] std::optional<ParsedExpression> read_condition(const YamlNode& scalar,
                                                             NamedLists& lists,
                                                             const ReadContext& context);

// `when` of a rule, or of what is like one. The context has the versions of IP that it lets
// through, for the keys that are read behind it.
void read_when(const MapReader& map, const FileContext& file, ReadContext& context, ReadRule& read);

}  // namespace sluice
