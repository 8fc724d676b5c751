#include "control/daemon/api/cluster_view.hpp"

#include "control/daemon/api/change.hpp"
#include "control/daemon/api/metrics_writer.hpp"
#include "control/daemon/api/stat_json.hpp"
#include "control/daemon/cluster/cluster_part.hpp"
#include "control/fleet/rollout_words.hpp"
#include "control/fleet/store_reading_json.hpp"

#include <algorithm>
#include <chrono>

namespace sluice {
namespace {

Json seen_text(const std::string& text) {
    return text.empty() ? Json() : Json(text);
}

Json head_set_json(const HeadSet& set) {
    return {{"generation", set.generation},
            {"set", seen_text(set.set.sum)},
            {"by", seen_text(set.by)},
            {"at", set.at == 0 ? Json() : Json(utc_text(set.at))}};
}

std::string_view rules_of(const NodeRecord& node, const FleetView& view) {
    return rules_word(node, view.head ? std::optional{view.head->value.now} : std::nullopt);
}

// null: it has not looked at what is on its way.
Json verdict_json(const NodeRecord& node, const FleetView& view) {
    if (!view.rollout || node.staged.rollout != view.rollout->value.id) {
        return nullptr;
    }
    return {{"good", node.staged.is_good}, {"why", seen_text(node.staged.why)}};
}

Json node_json(const NodeRecord& node, const FleetView& view) {
    return {{"slot", node.slot},
            {"node", node.node},
            {"host", node.host},
            {"version", node.version},
            {"generation", node.in_force.generation},
            {"set", seen_text(node.in_force.set.sum)},
            {"runs", rules_of(node, view)},
            {"verdict", verdict_json(node, view)},
            {"settings", node.settings},
            {"store", reading_json(node.store)},
            {"problem", seen_text(problem_of(node))}};
}

Json rollout_json(const FleetView& view) {
    if (!view.rollout) {
        return nullptr;
    }
    const Rollout& rollout = view.rollout->value;
    Json json = head_set_json(rollout.next);
    json["id"] = rollout.id;
    json["staged"] = rollout.is_staged;
    json["everywhere"] = rollout.is_everywhere;
    json["nodes"] = rollout.nodes;
    json["trial_s"] = rollout.trial_seconds;
    return json;
}

Json fleet_json(const FleetReading& reading) {
    Json nodes = Json::array();
    for (const NodeRecord& node : reading.nodes) {
        nodes.push_back(node_json(node, reading.view));
    }
    const std::chrono::duration<double> age = std::chrono::steady_clock::now() - reading.read_at;
    return {{"age_s", reading.was_read ? Json(age.count()) : Json()},
            {"problem", seen_text(reading.problem)},
            {"head", reading.view.head ? head_set_json(reading.view.head->value.now) : Json()},
            {"rollout", rollout_json(reading.view)},
            {"drained", reading.drained},
            {"away", reading.away},
            {"nodes", std::move(nodes)}};
}

Json link_json(const StoreLinkStats& store) {
    Json json(numbers_json(store));
    json["state"] = kStoreLinkStateNames[store.state];
    json["why"] = seen_text(store.why);
    return json;
}

}  // namespace

HttpResponse get_cluster_nodes(const HttpRequest&, Services& services) {
    if (services.cluster == nullptr) {
        return json_response({{"cluster", nullptr}});
    }
    const ClusterOptions& options = services.cluster->options();
    const std::shared_ptr<const FleetReading> reading = services.cluster->reading();
    const Result<Stats> stats = ask_stats(services);
    const bool has_link = stats && stats->store.in_cluster;
    return json_response({{"name", options.name},
                          {"node", options.node},
                          {"size", options.size},
                          {"has_store", options.store.has_value()},
                          {"store", has_link ? link_json(stats->store) : Json()},
                          {"fleet", reading == nullptr ? Json() : fleet_json(*reading)}});
}

std::string cluster_view_metrics(const Services& services) {
    if (services.cluster == nullptr) {
        return "";
    }
    MetricsWriter text;
    text.single("sluice_cluster_size", "Boxes that the cluster may have, as sluice.yaml declares.",
                services.cluster->options().size);
    text.family("sluice_cluster_events_total",
                help_of("Events of the cluster, by kind:", kClusterEvents));
    text.by_name("kind", services.cluster->log().counts(), kClusterEvents);
    const std::shared_ptr<const FleetReading> reading = services.cluster->reading();
    if (reading == nullptr) {
        return text.take();
    }
    text.single("sluice_cluster_etcd_up", "Whether the cluster's etcd answered when it was read.",
                reading->was_read && reading->problem.empty() ? 1 : 0);
    if (!reading->was_read) {
        return text.take();
    }
    const auto differing = std::ranges::count_if(reading->nodes, [&](const NodeRecord& node) {
        const std::string_view rules = rules_of(node, reading->view);
        return rules != "in force" && rules != "trial" && rules != "none";
    });
    text.single("sluice_cluster_members", "Boxes that hold a slot of the cluster in its etcd.",
                reading->nodes.size());
    text.single("sluice_cluster_members_differing",
                "Of these, boxes that run other rules than those that all are to run.", differing);
    text.single("sluice_cluster_drained", "Boxes that are drained.", reading->drained.size());
    text.single("sluice_cluster_rollout", "1 while a rollout is under way.",
                reading->view.rollout ? 1 : 0);
    return text.take();
}

}  // namespace sluice
