#pragma once
#include "lib/rules/port_rss_mapping.hpp"

#include <optional>
#include <string>

namespace sluice {

// Checks that both directions of a connection come to one worker. nullopt: they do; else where they
// do not, and what would help. Of a box that nothing is known of they may.
[[nodiscard]] std::optional<std::string> find_split(const RssMapping& box);

}  // namespace sluice
