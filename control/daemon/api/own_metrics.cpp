#include "control/daemon/api/own_metrics.hpp"

#include "control/daemon/api/stat_metrics.hpp"

#include <sys/stat.h>

namespace sluice {
namespace {

std::chrono::duration<double> since_epoch(const timespec& time) {
    return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

}  // namespace

std::string list_metrics(const RuleView& rules, std::chrono::system_clock::time_point now) {
    if (rules.list_files.empty()) {
        return "";
    }
    MetricsWriter text;
    text.family("sluice_list_age_seconds",
                "Since when the file of a list or database is as it is, by its own time.");
    for (const std::string& file : rules.list_files) {
        struct stat info{};
        if (::stat(file.c_str(), &info) == 0) {
            const std::chrono::duration<double> age =
                now.time_since_epoch() - since_epoch(info.st_mtim);
            text.sample({{"file", file}}, age.count());
        }
    }
    return text.take();
}

std::string dynamic_metrics(const DynamicCount& count, const RefusedSets& refused) {
    if (count.by_rule.empty()) {
        return "";
    }
    MetricsWriter text;
    text.family("sluice_rule_dynamic_keys",
                "Numbers of single keys that are set through `dynamic`.");
    for (const auto& [rule, keys] : count.by_rule) {
        text.sample({{"rule", rule}}, keys);
    }
    text.family("sluice_rule_dynamic_refused_total",
                "Calls that would have set such numbers, and were refused.");
    for (const auto& [rule, keys] : count.by_rule) {
        text.sample({{"rule", rule}}, refused.of(rule));
    }
    return text.take();
}

std::string api_metrics(const ApiCounters& counters) {
    MetricsWriter text;
    text.family("sluice_api_connections_turned_away_total",
                help_of("Connections that were closed unanswered:", kTurnedAway));
    text.by_name("reason", counters.read(), kTurnedAway);
    return text.take();
}

std::string live_metrics(const LiveStats& stats) {
    MetricsWriter text;
    put_numbers(text, stats);
    return text.take();
}

std::string heat_metrics(std::uint64_t refused_looks) {
    MetricsWriter text;
    text.single("sluice_heatmap_refused_looks_total",
                "Questions for the heat map of a rule that was not watched, since as many others "
                "were looked at as may be.",
                refused_looks);
    return text.take();
}

std::string notify_metrics(const std::vector<NoticeSender::State>& webhooks,
                           std::uint64_t strangers) {
    MetricsWriter text;
    if (!webhooks.empty() || strangers != 0) {
        text.single("sluice_notify_unknown_total",
                    "Notices of rules whose webhook sluice.yaml does not have.", strangers);
    }
    if (webhooks.empty()) {
        return text.take();
    }
    text.family("sluice_notify_queue", "Notices that wait for a webhook.");
    for (const NoticeSender::State& webhook : webhooks) {
        text.sample({{"webhook", webhook.name}}, webhook.queued);
    }
    text.family("sluice_notify_total",
                "Notices by webhook and what became of them: sent, failed (refused for good, or "
                "tried in vain), dropped (for newer ones).");
    for (const NoticeSender::State& webhook : webhooks) {
        text.sample({{"webhook", webhook.name}, {"outcome", "sent"}}, webhook.counts.sent);
        text.sample({{"webhook", webhook.name}, {"outcome", "failed"}}, webhook.counts.failed);
        text.sample({{"webhook", webhook.name}, {"outcome", "dropped"}}, webhook.counts.dropped);
    }
    text.family("sluice_notify_retried_total", "Attempts of notices after their first.");
    for (const NoticeSender::State& webhook : webhooks) {
        text.sample({{"webhook", webhook.name}}, webhook.counts.retried);
    }
    return text.take();
}

}  // namespace sluice
