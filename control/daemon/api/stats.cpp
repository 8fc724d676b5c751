#include "control/daemon/api/change.hpp"
#include "control/daemon/api/numbers.hpp"
#include "control/daemon/api/stat_json.hpp"
#include "control/daemon/rule_life.hpp"

#include <algorithm>
#include <map>

namespace sluice {
namespace {

using nlohmann::ordered_json;

// Numbers of single keys that are set, and how often some were refused.
ordered_json dynamic_json(std::size_t keys, const std::string& rule, Services& services) {
    return {{"keys", keys}, {"refused", services.rules.refused_sets().of(rule)}};
}

ordered_json rule_json(const RuleSummary& rule, const RuleStats& counted,
                       const ordered_json& dynamic, bool ended) {
    const RuleCounts& counts = counted.counts;
    const RuleNumbers<std::uint64_t>& packets = counts;
    const BanNumbers<std::uint64_t>& bans = counts;
    ordered_json json{{"id", rule.id},
                      {"mode", kModeNames[static_cast<std::size_t>(rule.mode)]},
                      {"ended", ended},
                      {"matched", counts.admitted + counts.exceeded + counts.skipped}};
    json.update(numbers_json(packets));
    if (!rule.limits.empty()) {
        json["keys"] = counted.entries;
        if (counted.limited_now) {
            json["limited_now"] = *counted.limited_now;
        }
    }
    for (const LimitStats& limit : counted.limits) {
        json["limits"].push_back(
            {{"name", limit.name}, {"refused", limit.refused}, {"keys", limit.entries}});
    }
    add_rare_json(packets, json);
    if (!rule.ban.empty() || counts.banned + counts.banned_sources != 0) {
        json.update(numbers_json(bans));
        add_rare_json(bans, json);
    }
    add_rare_json<EarlyDrops>(counts, json);
    if (counted.open_connections) {
        json["open_connections"] = *counted.open_connections;
    }
    if (!dynamic.is_null()) {
        json["dynamic"] = dynamic;
    }
    if (counted.overshoot.max_unsynced != 0) {
        json["merged"] = numbers_json(counted.overshoot);
    }
    return json;
}

// Services in force, as they run; checksums of those alone that are on.
ordered_json services_json(const RuleView& view, const Stats& stats) {
    ordered_json services = ordered_json::array();
    for (std::size_t i = 0; i < view.services.size(); ++i) {
        const ServiceSummary& service = view.services[i];
        services.push_back(
            {{"id", service.id},
             {"protocol", kServiceProtocolNames[static_cast<std::size_t>(service.protocol)]},
             {"mode", kModeNames[static_cast<std::size_t>(service.mode)]},
             {"file_mode", kModeNames[static_cast<std::size_t>(view.service_file_modes[i])]}});
        const auto counted =
            std::find_if(stats.services.begin(), stats.services.end(),
                         [&](const ServiceStats& running) { return running.id == service.id; });
        if (counted != stats.services.end()) {
            services.back()["checksums"] = {
                {"clients", kChecksumTrustNames[static_cast<std::size_t>(counted->clients)]},
                {"servers", kChecksumTrustNames[static_cast<std::size_t>(counted->servers)]}};
        }
    }
    return services;
}

ordered_json snapshots_json(const SnapshotStats& snapshots) {
    ordered_json json = numbers_json(snapshots);
    if (snapshots.done != 0) {
        json.update(numbers_json(snapshots.latest));
    }
    return json;
}

ordered_json state_json(const StateStats& state) {
    ordered_json json = numbers_json(state);
    json["rules"] = kKeptRulesNames[static_cast<std::size_t>(state.rules)];
    json["snapshot"] = state.has_snapshots ? snapshots_json(state.snapshots) : ordered_json();
    return json;
}

// The link of a box in a cluster.
ordered_json store_json(const StoreLinkStats& store) {
    ordered_json json{{"state", kStoreLinkStateNames[store.state]},
                      {"why", store.why.empty() ? ordered_json() : ordered_json(store.why)}};
    json.update(numbers_json(store));
    return json;
}

}  // namespace

HttpResponse get_stats(const HttpRequest&, Services& services) {
    const Result<Stats> stats = ask_stats(services);
    if (!stats) {
        return no_dataplane(stats.error());
    }
    std::map<std::string, RuleStats> counted;
    for (const RuleStats& rule : stats->rules) {
        counted[rule.id] = rule;
    }
    const std::shared_ptr<const RuleView> view = services.rules.view();
    const DynamicCount dynamic = services.rules.dynamic_count();
    ordered_json rules = ordered_json::array();
    for (const RuleSummary& rule : view->rules) {
        const auto keys = dynamic.by_rule.find(rule.id);
        rules.push_back(rule_json(rule, counted[rule.id],
                                  keys == dynamic.by_rule.end()
                                      ? ordered_json()
                                      : dynamic_json(keys->second, rule.id, services),
                                  has_ended(rule.id, view->lives)));
    }
    ordered_json document{{"generation", generation_text(stats->generation)},
                          {"unconfirmed", unconfirmed_json(view->unconfirmed)},
                          {"uptime_s", static_cast<double>(stats->uptime_ns) / 1e9},
                          {"panic", stats->panic}};
    document.update(counts_json(total_of(stats->workers)));
    document.update({{"merge_interval_us", stats->merge_interval_ns / 1'000},
                     {"clock", numbers_json(stats->clock)},
                     {"heatmaps", numbers_json(stats->heatmaps)},
                     {"state", state_json(stats->state)},
                     {"rules", std::move(rules)},
                     {"services", services_json(*view, *stats)}});
    if (stats->store.in_cluster) {
        document["store"] = store_json(stats->store);
    }
    if (!view->list_problem.empty()) {
        document["list_problem"] = view->list_problem;
    }
    return json_response(document);
}

}  // namespace sluice
