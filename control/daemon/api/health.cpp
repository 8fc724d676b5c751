#include "control/active_json.hpp"
#include "control/daemon/api/change.hpp"
#include "control/daemon/api/cluster.hpp"
#include "control/daemon/notify/missing_webhooks.hpp"
#include "control/daemon/notify/notice_sender.hpp"
#include "control/daemon/web/web_access.hpp"
#include "lib/base/device_text.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

namespace sluice {

namespace {

// Sides of services whose checksums are in this state.
Json sides_json(const Stats& stats, ChecksumTrust state) {
    Json sides = Json::array();
    for (const ServiceStats& service : stats.services) {
        for (const auto& [side, trust] :
             {std::pair{"clients", service.clients}, std::pair{"servers", service.servers}}) {
            if (trust == state) {
                sides.push_back({{"service", service.id}, {"side", side}});
            }
        }
    }
    return sides;
}

// Sides that are not verified yet. A service that is off reads nothing, so it learns nothing.
Json learning_json(const Stats& stats, const RuleView& view) {
    Json learning = Json::array();
    for (Json& one : sides_json(stats, ChecksumTrust::Learning)) {
        const bool is_off = std::ranges::any_of(view.services, [&](const ServiceSummary& service) {
            return service.mode == Mode::Off && service.id == one.at("service").get<std::string>();
        });
        if (!is_off) {
            learning.push_back(std::move(one));
        }
    }
    return learning;
}

// Ports that do not spread frames over workers as they are to; source_prefix no port can.
Json fallen_back_json(const Stats& stats) {
    Json ports = Json::array();
    for (const PortStats& port : stats.ports) {
        const bool is_handed = port.handed_over && port.asked != name_of(Rss::SourcePrefix);
        const bool is_other = !port.handed_over && port.hashes != port.asked;
        if (stats.workers.size() > 1 && (is_handed || is_other)) {
            ports.push_back({{"pair", port.pair},
                             {"side", port.side},
                             {"asked", port.asked},
                             {"hashes", port.hashes},
                             {"handed_over", port.handed_over}});
        }
    }
    return ports;
}

// Programs that take frames before a port does, and are not this box's.
Json other_programs_json(const Stats& stats) {
    Json programs = Json::array();
    for (const PortStats& port : stats.ports) {
        if (port.kernel.is_others(port.driver)) {
            const std::vector<std::string> interfaces = interfaces_of(port.device);
            programs.push_back({{"pair", port.pair},
                                {"side", port.side},
                                {"interface", interfaces.empty() ? port.device : interfaces[0]},
                                {"program", port.kernel.program},
                                {"mode", port.kernel.native ? "native" : "generic"}});
        }
    }
    return programs;
}

// Ports by which nothing goes: their link is down or their interface gone, or
// they are held down because the other side of their pair is.
Json links_down_json(const Stats& stats) {
    Json down = Json::array();
    for (const PortStats& port : stats.ports) {
        if (!port.link_up) {
            down.push_back({{"pair", port.pair},
                            {"side", port.side},
                            {"held_down", port.held_down},
                            {"gone", port.gone}});
        }
    }
    return down;
}

// Sides whose MTU is below what the box gave their interface, or below that of the other side.
Json low_mtus_json(const Stats& stats) {
    Json low = Json::array();
    for (const PortStats& port : stats.ports) {
        std::uint16_t needed = port.set_mtu;
        for (const PortStats& other : stats.ports) {
            if (other.pair == port.pair && other.set_mtu != 0) {
                needed = std::max(needed, other.mtu);
            }
        }
        if (port.set_mtu != 0 && port.mtu < needed) {
            low.push_back(
                {{"pair", port.pair}, {"side", port.side}, {"mtu", port.mtu}, {"needed", needed}});
        }
    }
    return low;
}

// Sides whose MTU is above the one that their buffers and queues were set up for at the start.
Json raised_mtus_json(const Stats& stats) {
    Json raised = Json::array();
    for (const PortStats& port : stats.ports) {
        if (port.set_mtu != 0 && port.mtu > port.set_mtu) {
            raised.push_back({{"pair", port.pair},
                              {"side", port.side},
                              {"mtu", port.mtu},
                              {"started", port.set_mtu}});
        }
    }
    return raised;
}

// Lists whose file has no entry: rules that ask for one of its values match nothing by it.
Json empty_lists_json(const RuleView& view) {
    Json empty = Json::array();
    for (const ListSummary& list : view.list_summaries) {
        if (list.known && list.entries == 0) {
            empty.push_back({{"name", list.name}, {"file", list.file}});
        }
    }
    return empty;
}

// True of `survives` where what keys owe outlives the dataplane.
Json kept_state_json(const StateStats& state) {
    return {{"survives", state.survives}, {"not_kept", state.not_kept}};
}

// The link to the store of the box's cluster; null: it is in none.
Json store_link_json(const StoreLinkStats& store) {
    if (!store.in_cluster) {
        return nullptr;
    }
    return {{"state", kStoreLinkStateNames[store.state]},
            {"why", store.why.empty() ? Json() : Json(store.why)},
            {"down", store.down},
            {"over_budget", store.over_budget},
            {"windows_apart", store.windows_apart},
            {"clock_off_s", static_cast<double>(store.clock_off_us) / 1e6}};
}

Json inactive_rules_json(const RuleView& view) {
    const Nanoseconds now = utc_now();
    Json inactive = Json::array();
    for (const RuleSummary& rule : view.rules) {
        if (is_inactive(rule, now)) {
            inactive.push_back(rule.id);
        }
    }
    return inactive;
}

// Webhooks, and what became of their notices since sluiced started; a URL may be a secret itself.
// Webhooks that rules name and sluice.yaml has not are told likewise.
Json notify_json(const NoticeSender& notices, const RuleView& view) {
    Json webhooks = Json::array();
    for (const NoticeSender::State& state : notices.states()) {
        webhooks.push_back({{"name", state.name},
                            {"queued", state.queued},
                            {"sent", state.counts.sent},
                            {"failed", state.counts.failed},
                            {"dropped", state.counts.dropped},
                            {"retried", state.counts.retried},
                            {"problem", state.problem.empty() ? Json() : Json(state.problem)}});
    }
    for (const auto& [name, rules] : missing_webhooks(view, notices)) {
        webhooks.push_back({{"name", name},
                            {"queued", 0},
                            {"sent", 0},
                            {"failed", notices.strangers(name)},
                            {"dropped", 0},
                            {"retried", 0},
                            {"problem", missing_text(rules)}});
    }
    return webhooks;
}

// The dashboard: who can reach it, and as what; null: it is off.
Json web_json(WebAccess* web) {
    if (web == nullptr) {
        return nullptr;
    }
    const std::string problem = web->tokens().problem();
    return {{"listen", place_of_web(web->options())},
            {"reach", reach_of_web(web->options(), web->sockets())},
            {"sessions", web->session_count()},
            {"tokens", web->tokens().count(std::time(nullptr))},
            {"problem", problem.empty() ? Json() : Json(problem)}};
}

}  // namespace

// The first question of a person on call: whether the rules judge, and for how long.
HttpResponse get_health(const HttpRequest&, Services& services) {
    const Result<Stats> stats = ask_stats(services);
    const DataplaneLink::Status status = services.link.status();
    const std::uint64_t generation = stats ? stats->generation : 0;
    const std::shared_ptr<const RuleView> view = services.rules.view();
    return json_response(
        {{"version", SLUICE_VERSION},
         {"dataplane",
          {{"connected", status.connected},
           {"pid", status.pid},
           {"generation", generation_text(generation)}}},
         {"panic", stats ? Json(stats->panic) : Json()},
         {"checksums_trusted", stats ? sides_json(*stats, ChecksumTrust::Trusting) : Json()},
         {"checksums_learning", stats ? learning_json(*stats, *view) : Json()},
         {"rss_fallen_back", stats ? fallen_back_json(*stats) : Json()},
         {"other_programs", stats ? other_programs_json(*stats) : Json()},
         {"links_down", stats ? links_down_json(*stats) : Json()},
         {"low_mtus", stats ? low_mtus_json(*stats) : Json()},
         {"raised_mtus", stats ? raised_mtus_json(*stats) : Json()},
         {"empty_lists", empty_lists_json(*view)},
         {"inactive_rules", inactive_rules_json(*view)},
         {"tenants_aside", view->aside},
         {"rules_problem", view->problem.empty() ? Json() : Json(view->problem)},
         {"state", stats ? kept_state_json(stats->state) : Json()},
         {"store", stats ? store_link_json(stats->store) : Json()},
         {"list_problem", view->list_problem.empty() ? Json() : Json(view->list_problem)},
         {"notify", notify_json(services.notices, *view)},
         {"web", web_json(services.web)},
         {"cluster", cluster_json(services)},
         {"unconfirmed", unconfirmed_json(view->unconfirmed)}});
}

}  // namespace sluice
