#pragma once
#include "control/daemon/api/explain_turns.hpp"
#include "control/daemon/api/tenant_gate.hpp"
#include "control/daemon/api/tenant_paces.hpp"
#include "control/daemon/api_counters.hpp"
#include "control/daemon/audit.hpp"
#include "control/daemon/dataplane_link.hpp"
#include "control/daemon/http.hpp"
#include "control/daemon/rule_keeper.hpp"
#include "control/daemon/web/role.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

class ClusterPart;
class FleetBoard;
class Heatmaps;
class LiveBoard;
class NoticeSender;
class PreviewDesk;
class SettingsDesk;
class WebAccess;

// Simulations that are run, one after the other, or wait for it.
inline constexpr std::size_t kSimulationPlaces = 16;

// Services that the resources work on.
struct Services {
    RuleKeeper& rules;
    DataplaneLink& link;
    Audit& audit;
    const ApiCounters& counters;
    NoticeSender& notices;
    WebAccess* web = nullptr;  // nullptr: there is no dashboard
    ExplainTurns explain_turns{};
    LiveBoard* live = nullptr;     // set wherever /v1/live is asked for
    Heatmaps* heatmaps = nullptr;  // set wherever a heat map is
    ExplainTurns simulation_turns{kSimulationPlaces};
    // Turns of tenants' people, who so wait for each other alone, and for one turn beside the
    // operators'.
    ExplainTurns tenant_simulation_turns{kSimulationPlaces};
    TenantPaces tenant_paces{};
    ExplainTurns replay_turns{};
    FleetBoard* fleet = nullptr;      // nullptr: the box is in no cluster with an etcd
    SettingsDesk* desk = nullptr;     // likewise
    ClusterPart* cluster = nullptr;   // nullptr: it is in none
    PreviewDesk* previews = nullptr;  // set wherever a preview is asked for
};

// Answers one request: finds its resource in the table of routes, or says 404 or 405. The one place
// that decides which role may call it.
[[nodiscard]] HttpResponse route(const HttpRequest& request, Services& services);

// A row of that table: its path as it stands there, with `*` for one part.
struct RouteShape {
    std::string_view method;
    std::string_view path;
    Role role;
    ForTenant for_tenant;
};
[[nodiscard]] std::vector<RouteShape> route_shapes();
// The row of the table; of what is none of it, one for admins alone.
[[nodiscard]] RouteShape route_shape(std::string_view method, std::string_view path);
// 403, for whoever has less than `needed`.
[[nodiscard]] HttpResponse lacks_role(const HttpRequest& request, Role needed);

// Records a change with whoever asked for it: the rest of the entry is the call's.
void write_audit(Services& services, const HttpRequest& request, AuditEntry entry);

// The resources, one file each.
[[nodiscard]] HttpResponse get_rules(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_source(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_files(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_history(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_rule(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse post_rule(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse put_rule(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse delete_rule(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse put_rules(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse post_confirm(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse post_rollback(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse post_rollback_diff(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse post_check(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_fields(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_schema(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse post_diff(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse put_mode(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_key(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse post_key(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_keys(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse post_keys(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_heatmap(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_heatmap_cell(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_live_keys(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_find(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_bans(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse post_bans(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse post_unbans(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_stats(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_top(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse post_explain(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse post_simulate(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse post_replay(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_events(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse post_traces(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_trace(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse delete_trace(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse post_previews(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_preview(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse delete_preview(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_live(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_series(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_ports(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_workers(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse post_merge(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse post_panic(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse post_notify_test(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_health(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse post_session(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_session(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse delete_session(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse post_session_link(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_cluster(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_cluster_nodes(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_tenants(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_tenant_rules(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse put_tenant_rules(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse post_tenant_check(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse post_tenant_confirm(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse post_tenant_rollback(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse delete_tenant(const HttpRequest& request, Services& services);
[[nodiscard]] HttpResponse get_metrics(const HttpRequest& request, Services& services);

// An argument of the query; `otherwise` where it is absent or empty.
[[nodiscard]] std::string argument(const HttpRequest& request, const std::string& name,
                                   const std::string& otherwise);

// The rule that a path names: what stands between /v1/rules/ and `after`.
[[nodiscard]] std::string rule_in(const HttpRequest& request, std::string_view after = "");
[[nodiscard]] HttpResponse no_such_rule(const std::string& id);
[[nodiscard]] HttpResponse no_such_tenant(std::string_view name);

// 400 Bad Request: the problem `what`.
[[nodiscard]] HttpResponse bad_request(const std::string& what);

// The dataplane's answer to a request whose reply is this one.
template <typename Wanted>
[[nodiscard]] Result<Wanted> ask_for(DataplaneLink& link, Request request) {
    Result<Reply> reply = link.call(std::move(request));
    if (!reply) {
        return reply.error();
    }
    if (auto* const wanted = std::get_if<Wanted>(&*reply)) {
        return std::move(*wanted);
    }
    return Error{Errc::BadSyntax, "the dataplane answered something else"};
}

// Numbers of the dataplane, or why there are none.
[[nodiscard]] Result<Stats> ask_stats(Services& services);

// The answer to a call that the dataplane did not answer.
[[nodiscard]] HttpResponse no_dataplane(const Error& error);

}  // namespace sluice
