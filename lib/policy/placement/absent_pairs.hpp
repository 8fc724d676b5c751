#pragma once
#include "lib/policy/expression/expression.hpp"
#include "lib/rules/port_rss_mapping.hpp"

#include <optional>
#include <string>

namespace sluice {

// A warning of a condition that holds at no port of the box, though it would at another one's.
// nullopt: it may hold, or the box's pairs are not known.
[[nodiscard]] std::optional<std::string> find_absent_pair(const Expression& when,
                                                          const RssMapping& box);

}  // namespace sluice
