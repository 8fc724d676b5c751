#include "control/cluster_json.hpp"

#include <array>
#include <string_view>

namespace sluice {
namespace {

constexpr auto kSharingNames = std::to_array<std::string_view>({"merged", "asked", "refused"});

}  // namespace

Json cluster_json(const ClusterSummary& cluster) {
    return {{"size", cluster.cluster.size},
            {"assumed", cluster.cluster.kind == BoxCluster::Kind::Assumed},
            {"sharing", kSharingNames[static_cast<std::size_t>(cluster.terms.sharing)]},
            {"box_unsynced", cluster.terms.box_unsynced},
            {"worker_unsynced", cluster.terms.worker_unsynced},
            {"overshoot", cluster.terms.overshoot},
            {"owner_down", kOwnerDownNames[static_cast<std::size_t>(cluster.owner_down)]}};
}

void add_cluster(const LimitSummary& limit, Json& json) {
    if (limit.cluster) {
        json["cluster"] = cluster_json(*limit.cluster);
    }
}

}  // namespace sluice
