#pragma once
#include "lib/policy/lists/named_lists.hpp"
#include "lib/policy/map_reader.hpp"
#include "lib/policy/named_limits.hpp"

namespace sluice {

// `bypass` is not built: it is read so that what is wrong in it is seen, and so that the limits it
// names count as used.
void check_bypass(const YamlNode& bypass, NamedLimits& limits, NamedLists& lists,
                  const ReadContext& context);

}  // namespace sluice
