#include "control/daemon/api/early_drop_json.hpp"

#include "control/daemon/api/change.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>
#include <tuple>

namespace sluice {
namespace {

// In the order of EarlyDropState.
constexpr std::string_view kStateNames[] = {"works", "no_port", "box_decides", "not_judging"};

bool is_by_operator(const EarlyDropEntry& entry, const std::string& network,
                    const KeySettings& settings) {
    return std::ranges::any_of(settings, [&](const KeySetting& one) {
        return one.rule == entry.rule && one.key == network &&
               one.what == KeySetting::What::Banned && !has_ended(one);
    });
}

std::string_view source_of(const EarlyDropEntry& entry, const std::string& network,
                           const KeySettings& settings) {
    switch (entry.source) {
        case EarlyDropSource::Condition:
            return "condition";
        case EarlyDropSource::PenaltyBox:
            return "penalty_box";
        case EarlyDropSource::Exempt:
            return "exempt";
        default:
            return is_by_operator(entry, network, settings) ? "operator" : "policy";
    }
}

Json until_json(std::int64_t left_ns) {
    if (left_ns == 0) {
        return nullptr;
    }
    const auto end = std::chrono::system_clock::now() + std::chrono::nanoseconds{left_ns};
    return utc_text(std::chrono::ceil<std::chrono::seconds>(end.time_since_epoch()).count());
}

Json port_json(const EarlyDropPort& port) {
    return {{"pair", port.pair},
            {"side", port.side},
            {"interface", port.interface.empty() ? Json() : Json(port.interface)},
            {"early_drop", port.capacity != 0},
            {"attached", port.attached},
            {"networks", port.networks},
            {"capacity", port.capacity},
            {"whole", port.whole}};
}

// Bans apply to a key or a source; conditions and exemptions have no key.
Json applies_to_json(const EarlyDropEntry& entry) {
    if (entry.source == EarlyDropSource::Condition || entry.source == EarlyDropSource::Exempt) {
        return nullptr;
    }
    return entry.of_source ? "source" : "key";
}

Json entry_json(const EarlyDropEntry& entry, const KeySettings& settings) {
    const std::string network = to_text(entry.network);
    return {{"network", network},
            {"at", Json::array()},
            {"rule", entry.rule},
            {"by", source_of(entry, network, settings)},
            {"applies_to", applies_to_json(entry)},
            {"until", until_json(entry.left_ns)},
            {"left_s", entry.left_ns == 0 ? Json() : seconds_json(entry.left_ns)},
            {"rule_packets", std::uint64_t{0}}};
}

}  // namespace

Json early_drop_json(const FoundEarlyDrops& found, std::size_t most, const KeySettings& settings) {
    Json ports = Json::array();
    for (const EarlyDropPort& port : found.ports) {
        ports.push_back(port_json(port));
    }
    Json entries = Json::array();
    bool is_cut = false;
    std::map<std::tuple<IpPrefix, std::string, EarlyDropSource>, std::size_t> places;
    for (const EarlyDropEntry& entry : found.entries) {
        const auto [at, is_new] =
            places.try_emplace({entry.network, entry.rule, entry.source}, entries.size());
        if (is_new && entries.size() == most) {
            places.erase(at);
            is_cut = true;
            continue;
        }
        if (is_new) {
            entries.push_back(entry_json(entry, settings));
        }
        Json& json = entries[at->second];
        const EarlyDropPort& port = found.ports[entry.port];
        json["at"].push_back(port.interface.empty() ? port.pair + " " + port.side : port.interface);
        json["rule_packets"] = json["rule_packets"].get<std::uint64_t>() + entry.packets;
    }
    const bool is_whole = std::ranges::all_of(
        found.ports, [](const EarlyDropPort& port) { return port.capacity == 0 || port.whole; });
    return {{"state", kStateNames[static_cast<std::size_t>(found.state)]},
            {"ports", std::move(ports)},
            {"entries", std::move(entries)},
            {"more", found.more || is_cut || !is_whole}};
}

Json early_drop_json(const Sought& sought, const EarlyDropTerms& terms, const RuleView& view,
                     Services& services) {
    if (!sought.has_network()) {
        return nullptr;
    }
    // Entries that are struck below take no room of others.
    const std::uint32_t asked = terms.lists_read && sought.kind != Sought::Kind::Range
                                    ? std::min(terms.most, kMostEarlyDrops)
                                    : kMostEarlyDrops;
    Result<FoundEarlyDrops> found =
        ask_for<FoundEarlyDrops>(services.link, FindEarlyDrops{sought.network, asked});
    if (!found) {
        return nullptr;
    }
    // Entries of the network around a range that lie beside the range go.
    std::erase_if(found->entries, [&](const EarlyDropEntry& entry) {
        return !meets(entry.network, sought) ||
               (!terms.lists_read && entry.source == EarlyDropSource::Condition);
    });
    return early_drop_json(*found, terms.most, view.keys);
}

}  // namespace sluice
