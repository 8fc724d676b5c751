#pragma once
#include "lib/rules/box_config.hpp"
#include "lib/rules/port_rss_mapping.hpp"

namespace sluice {

// How frames will come to the workers of a box, as far as sluice.yaml tells: what PCI devices can
// hash is known only where they are.
[[nodiscard]] RssMapping rss_mapping_of(const BoxConfig& box);

}  // namespace sluice
