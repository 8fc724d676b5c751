#include "control/daemon/api/event_json.hpp"

#include "control/daemon/api/change.hpp"

namespace sluice {

Json event_json(const KeyEvent& event) {
    Json json{{"seq", event.number}, {"time", utc_ns_text(event.utc_ns)}};
    if (event.kind == KeyEventKind::Lost) {
        json["event"] = "lost";
        json["lost"] = event.lost;
        return json;
    }
    if (event.kind == KeyEventKind::Bridged) {
        json["event"] = "bridged";
        json["pair"] = event.key;
        json["packets"] = event.packets;
        return json;
    }
    if (event.kind == KeyEventKind::ChecksumsTrusted) {
        json["event"] = "checksums_trusted";
        json["service"] = event.key;
        json["side"] = event.limit;
        return json;
    }
    if (event.kind == KeyEventKind::DebtsForgiven) {
        json["event"] = "debts_forgiven";
        if (!event.rule.empty()) {
            json["rule"] = event.rule;
            json["key"] = event.key;
        }
        json["debts"] = event.packets;
        return json;
    }
    const bool is_ban = event.kind == KeyEventKind::BanStart || event.kind == KeyEventKind::BanEnd;
    json["event"] = is_ban ? "ban" : kKeyEventKindNames[static_cast<std::size_t>(event.kind)];
    if (is_ban) {
        json["edge"] = event.kind == KeyEventKind::BanStart ? "start" : "end";
    }
    json["rule"] = event.rule;
    if (!is_ban) {
        json["limit"] = event.limit;
    }
    json["key"] = event.key;
    json["lcore"] = event.lcore;
    switch (event.kind) {
        case KeyEventKind::LimitStart:
            json["wait_s"] = seconds_json(event.for_ns);
            break;
        case KeyEventKind::LimitEnd:
        case KeyEventKind::BanStart:
        case KeyEventKind::BanEnd:
            json["for_s"] = seconds_json(event.for_ns);
            break;
        default:
            break;
    }
    return json;
}

Json event_json(const ClusterEvent& event) {
    Json json{{"seq", event.number},
              {"time", utc_ns_text(event.utc_ns)},
              {"event", kClusterEvents[static_cast<std::size_t>(event.kind)].name}};
    if (!event.node.empty()) {
        json["node"] = event.node;
    }
    if (!event.why.empty()) {
        json["why"] = event.why;
    }
    if (event.count != 0) {
        json["count"] = event.count;
    }
    if (event.generation != 0) {
        json["generation"] = event.generation;
    }
    if (event.offset_us != 0) {
        json["offset_s"] = static_cast<double>(event.offset_us) / 1e6;
    }
    return json;
}

}  // namespace sluice
