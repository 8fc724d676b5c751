#include "control/daemon/live/live_json.hpp"

#include "control/daemon/rule_change.hpp"

namespace sluice {
namespace {

Json both_json(const PacketRate& rate) {
    return {{"pps", rate_json(rate.pps)}, {"bps", rate_json(rate.bps)}};
}

Json count_json(const std::optional<std::uint64_t>& count) {
    return count ? Json(*count) : Json();
}

Json known_text(std::string_view text) {
    return text.empty() ? Json() : Json(std::string{text});
}

Json box_json(const LiveSnapshot& snapshot, const LiveOrigin& origin) {
    return {
        {"name", origin.name},
        {"state", kLiveStateNames[static_cast<std::size_t>(snapshot.state.state)]},
        {"since", known_text(snapshot.since)},
        {"why", known_text(snapshot.state.why)},
        {"generation", snapshot.generation ? Json(generation_text(*snapshot.generation)) : Json()},
        {"workers", snapshot.workers}};
}

Json rates_json(const std::optional<LiveRates>& rates) {
    if (!rates) {
        return nullptr;
    }
    return {{"offered", both_json(rates->offered)},
            {"passed", both_json(rates->passed)},
            {"refused", both_json(rates->refused)},
            {"would_refuse", both_json(rates->would_refuse)},
            {"answered", both_json(rates->answered)}};
}

Json problems_json(const std::vector<LiveProblem>& problems) {
    Json list = Json::array();
    for (const LiveProblem& problem : problems) {
        list.push_back({{"name", problem.name},
                        {"severity", problem.severity},
                        {"text", problem.text},
                        {"do", problem.act}});
    }
    return list;
}

Json ports_json(const std::vector<LivePort>& ports) {
    Json list = Json::array();
    for (const LivePort& port : ports) {
        list.push_back({{"name", port.name},
                        {"link", port.link},
                        {"rx_pps", rate_json(port.rx.pps)},
                        {"rx_bps", rate_json(port.rx.bps)},
                        {"tx_pps", rate_json(port.tx.pps)},
                        {"tx_bps", rate_json(port.tx.bps)},
                        {"dropped_pps", rate_json(port.dropped)}});
    }
    return list;
}

}  // namespace

Json rate_json(LiveRate rate) {
    if (!rate) {
        return nullptr;
    }
    const double tenths = std::round(*rate * 10);
    if (*rate >= 100 || std::fmod(tenths, 10) == 0) {
        return static_cast<std::uint64_t>(std::llround(*rate));
    }
    return tenths / 10;
}

Json rate_json(float rate) {
    return std::isnan(rate) ? Json() : rate_json(LiveRate{rate});
}

Json live_json(const LiveSnapshot& snapshot, const LiveOrigin& origin) {
    return {{"snapshot", snapshot.number},
            {"run", origin.run},
            {"at", snapshot.at},
            {"version", SLUICE_VERSION},
            {"web", known_text(origin.web)},
            {"every_s", 1},
            {"box", box_json(snapshot, origin)},
            {"trial", snapshot.trial},
            {"rates", rates_json(snapshot.rates)},
            {"problems", problems_json(snapshot.problems)},
            {"ports", ports_json(snapshot.ports)},
            {"events", snapshot.events}};
}

Json tenant_live_json(const LiveSnapshot& snapshot, const LiveOrigin& origin) {
    const bool is_judging = snapshot.state.state == LiveState::Judging;
    const Json box{{"name", nullptr},
                   {"state", kLiveStateNames[static_cast<std::size_t>(snapshot.state.state)]},
                   {"since", known_text(snapshot.since)},
                   {"why", is_judging ? Json() : Json("the operators of the box know why")},
                   {"generation", nullptr},
                   {"workers", nullptr}};
    Json document = live_json({.number = snapshot.number, .at = snapshot.at}, origin);
    document["box"] = box;
    document["trial"] = nullptr;
    return document;
}

Json live_rule_json(const LiveRule& rule) {
    Json spark = Json::array();
    for (const float rate : rule.spark) {
        spark.push_back(rate_json(rate));
    }
    return {{"id", rule.id},
            {"mode", kModeNames[static_cast<std::size_t>(rule.mode)]},
            {"state", rule.state},
            {"matched_pps", rate_json(rule.matched.pps)},
            {"matched_bps", rate_json(rule.matched.bps)},
            {"refused_pps", rate_json(rule.refused)},
            {"would_refuse_pps", rate_json(rule.would_refuse.pps)},
            {"live_keys", count_json(rule.live_keys)},
            {"limited_now", count_json(rule.limited_now)},
            {"table_share", rule.table_share ? Json(*rule.table_share) : Json()},
            {"placement", known_text(rule.placement)},
            {"spark", std::move(spark)}};
}

}  // namespace sluice
