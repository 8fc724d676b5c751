#pragma once
#include "control/fleet/etcd_access.hpp"
#include "lib/base/result.hpp"
#include "lib/rules/cluster_options.hpp"

#include <optional>
#include <string>

namespace sluice {

// The cluster's files, read with the rights that sluiced starts with.
struct FleetAccess {
    EtcdAccess etcd{};
    std::string secret{};  // digest of the hash secret; empty: it could not be read
};

// nullopt: the box is in no cluster, or in one without etcd.
[[nodiscard]] Result<std::optional<FleetAccess>> open_fleet(
    const std::optional<ClusterOptions>& cluster);

// A short digest of the hash secret, by which boxes find that theirs differ; upper and lower case
// of its digits are one.
[[nodiscard]] std::string digest_of_cluster_secret(std::string_view text);

[[nodiscard]] inline std::optional<EtcdAccess> etcd_of(const std::optional<FleetAccess>& fleet) {
    return fleet ? std::optional{fleet->etcd} : std::nullopt;
}

}  // namespace sluice
