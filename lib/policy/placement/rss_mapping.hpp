#pragma once
#include "lib/rules/box_config.hpp"
#include "lib/rules/port_rss_mapping.hpp"

#include <optional>

namespace sluice {

// How frames will come to the workers of a box, as far as sluice.yaml tells: what PCI devices can
// hash is known only where they are.
[[nodiscard]] RssMapping rss_mapping_of(const BoxConfig& box);

// `cluster` of sluice.yaml; nullopt: it has none.
[[nodiscard]] BoxCluster cluster_of(const std::optional<ClusterOptions>& cluster);

}  // namespace sluice
