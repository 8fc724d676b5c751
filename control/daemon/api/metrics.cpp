#include "control/daemon/api/api.hpp"
#include "control/daemon/api/cluster.hpp"
#include "control/daemon/api/cluster_view.hpp"
#include "control/daemon/api/metrics_text.hpp"
#include "control/daemon/api/own_metrics.hpp"
#include "control/daemon/heatmap/heatmaps.hpp"
#include "control/daemon/notify/notice_sender.hpp"

namespace sluice {

HttpResponse get_metrics(const HttpRequest&, Services& services) {
    Result<Stats> stats = ask_stats(services);
    const std::shared_ptr<const RuleView> rules = services.rules.view();
    return {
        .status = 200,
        .type = "text/plain; version=0.0.4; charset=utf-8",
        .body =
            metrics_text(stats ? std::optional{*std::move(stats)} : std::nullopt, *rules) +
            list_metrics(*rules, std::chrono::system_clock::now()) +
            dynamic_metrics(services.rules.dynamic_count(), services.rules.refused_sets()) +
            api_metrics(services.counters) +
            (services.live == nullptr ? "" : live_metrics(services.live->stats())) +
            (services.heatmaps == nullptr ? "" : heat_metrics(services.heatmaps->refused_looks())) +
            cluster_metrics(services) + cluster_view_metrics(services) +
            notify_metrics(services.notices.states(), services.notices.strangers())};
}

}  // namespace sluice
