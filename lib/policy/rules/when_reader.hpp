#pragma once
#include "lib/policy/rules/rule_reader.hpp"

namespace sluice {

// `when` of a rule, or of what is like one. The context has the versions of IP that it lets
// through, for the keys that are read behind it.
void read_when(const MapReader& map, const FileContext& file, ReadContext& context, ReadRule& read);

}  // namespace sluice
