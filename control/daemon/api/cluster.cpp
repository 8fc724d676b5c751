#include "control/daemon/api/cluster.hpp"

#include "control/daemon/api/metrics_writer.hpp"
#include "control/daemon/cluster/cluster_part.hpp"
#include "control/daemon/fleet/fleet_board.hpp"
#include "control/daemon/fleet/settings_desk.hpp"

#include <fmt/format.h>

namespace sluice {
namespace {

std::string_view name_of(Membership membership) {
    return kMembershipNames[static_cast<std::size_t>(membership)];
}

Json text_or_null(const std::string& text) {
    return text.empty() ? Json() : Json(text);
}

}  // namespace

Json cluster_json(const Services& services) {
    if (services.fleet == nullptr) {
        return nullptr;
    }
    const ClusterOptions& options = services.fleet->options();
    const FleetStatus status = services.fleet->status();
    const NodeRecord& record = status.record;
    const bool is_member = status.membership == Membership::Member;
    return {{"name", options.name},
            {"node", options.node},
            {"size", options.size},
            {"state", name_of(status.membership)},
            {"problem", text_or_null(is_member ? record.error : status.why)},
            {"slot", is_member ? Json(record.slot) : Json()},
            {"generation", record.in_force.generation},
            {"set", text_or_null(record.in_force.set.sum)},
            {"head", status.head},
            {"trial", record.is_trial},
            {"detached", record.is_detached},
            {"settings", record.settings},
            {"settings_problem", text_or_null(record.settings_error)}};
}

HttpResponse get_cluster(const HttpRequest&, Services& services) {
    if (services.fleet == nullptr) {
        return problem_response(404, "no cluster",
                                "`cluster.etcd` of sluice.yaml puts a box into a cluster");
    }
    return json_response(cluster_json(services));
}

std::string cluster_metrics(const Services& services) {
    if (services.fleet == nullptr) {
        return "";
    }
    const FleetStatus status = services.fleet->status();
    MetricsWriter text;
    text.family("sluice_cluster_state", "1 for the box's standing in its cluster.");
    for (const std::string_view name : kMembershipNames) {
        text.sample({{"state", name}}, name == name_of(status.membership) ? 1 : 0);
    }
    text.single("sluice_cluster_generation",
                "Generation of the cluster's rules that the box runs; 0: of none.",
                status.record.in_force.generation);
    text.single("sluice_cluster_head_generation",
                "Generation of the rules that all boxes of the cluster are to run, as etcd has it; "
                "0: of none.",
                status.head);
    text.single("sluice_cluster_detached",
                "1 while the box runs rules that were applied on itself alone.",
                status.record.is_detached ? 1 : 0);
    text.single("sluice_cluster_problem", "1 while the box does not run what its cluster has.",
                status.record.error.empty() ? 0 : 1);
    text.single("sluice_cluster_joins_total", "Times that the box has taken a slot.",
                status.joined);
    text.single("sluice_cluster_etcd_failures_total", "Calls of etcd that had no good answer.",
                status.etcd_failures);
    text.single("sluice_cluster_settings_number",
                "Number of the change of single keys that the box has followed; 0: of none.",
                status.record.settings);
    text.single("sluice_cluster_settings_problem",
                "1 while the box has not all that is set for single keys of its cluster.",
                status.record.settings_error.empty() ? 0 : 1);
    if (services.desk != nullptr) {
        text.single("sluice_cluster_settings_refused_total",
                    "Changes of single keys for all boxes that found no room, or came too fast.",
                    services.desk->refused());
    }
    return text.take();
}

std::optional<HttpResponse> refuse_undetached(const HttpRequest& request,
                                              const Services& services) {
    if (services.fleet == nullptr || argument(request, "detach", "0") == "1") {
        return std::nullopt;
    }
    const FleetStatus status = services.fleet->status();
    if (status.record.in_force.generation == 0) {
        return std::nullopt;  // the cluster has brought no rules yet
    }
    const std::string& name = services.fleet->options().name;
    return problem_response(
        409, "the cluster's rules",
        fmt::format(
            "the rules of this box are those of the cluster {}: `--cluster` changes them on "
            "all boxes, `--detach` on this one until the next rollout",
            name));
}

Json cluster_name_json(const Services& services) {
    return services.cluster == nullptr ? Json() : Json(services.cluster->options().name);
}

}  // namespace sluice
