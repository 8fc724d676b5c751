#include "control/active_json.hpp"

#include "lib/rules/overrides.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>

namespace sluice {

Nanoseconds utc_now() {
    return std::chrono::duration_cast<Nanoseconds>(
        std::chrono::system_clock::now().time_since_epoch());
}

Json active_json(const ActiveTimes& times, Nanoseconds utc) {
    const Nanoseconds next = next_switch(times.schedule, utc);
    Json changes;
    if (next != kForever) {
        changes = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                              fmt::gmtime(static_cast<std::time_t>(whole_seconds(next))));
    }
    return {{"text", times.text},
            {"now", state_at(times.schedule, utc).active},
            {"changes", std::move(changes)}};
}

bool is_inactive(const RuleSummary& rule, Nanoseconds utc) {
    return rule.mode != Mode::Off && rule.active && !state_at(rule.active->schedule, utc).active;
}

Json inactive_json(const RuleSummary& rule, Nanoseconds utc) {
    const bool idle = rule.active && !state_at(rule.active->schedule, utc).active;
    return idle ? Json(next_text(*rule.active, utc)) : Json();
}

std::string next_text(const Json& active) {
    const bool now = active.at("now").get<bool>();
    if (!active.at("changes").is_string()) {
        return now ? "now" : "never";
    }
    return (now ? "now, until " : "not before ") + active.at("changes").get<std::string>();
}

std::string next_text(const ActiveTimes& times, Nanoseconds utc) {
    return next_text(active_json(times, utc));
}

}  // namespace sluice
