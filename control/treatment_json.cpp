#include "control/treatment_json.hpp"

#include <cstdint>

namespace sluice {
namespace {

std::int64_t count_of(Nanoseconds time) {
    return time.count();
}

// The names of those that are followed, and the ports that they have beside the registered ones.
Json tunnels_json(const Tunnels& tunnels) {
    Json json = Json::object();
    for (const TunnelRow& row : kTunnels) {
        json[std::string{row.name}] = tunnels.*row.followed;
    }
    json["ports"] = Json::array();
    for (const TunnelPort& other : tunnels.others) {
        if (other.port != 0) {
            json["ports"].push_back(
                {{"port", other.port}, {"tunnel", static_cast<unsigned>(other.tunnel)}});
        }
    }
    return json;
}

// Of more ports than a box can have, the first count.
Tunnels tunnels_from(const Json& json) {
    Tunnels tunnels;
    for (const TunnelRow& row : kTunnels) {
        tunnels.*row.followed = json.value(std::string{row.name}, false);
    }
    std::size_t count = 0;
    for (const Json& other : json.value("ports", Json::array())) {
        const auto tunnel = other.at("tunnel").get<unsigned>();
        if (count < tunnels.others.size() && tunnel <= static_cast<unsigned>(UdpTunnel::Gtpu)) {
            tunnels.others[count++] = {other.at("port"), static_cast<UdpTunnel>(tunnel)};
        }
    }
    return tunnels;
}

}  // namespace

Json treatment_json(const PacketTreatment& treatment) {
    const ConnectionOptions& connections = treatment.units.connections;
    const FragmentOptions& fragments = treatment.units.fragments;
    return {
        {"malformed", treatment.malformed == MalformedPolicy::Drop ? "drop" : "pass"},
        {"tunnels", tunnels_json(treatment.tunnels)},
        {"on_ambiguous", treatment.units.on_ambiguous == OnAmbiguous::Refuse ? "refuse" : "both"},
        {"quic_initials_percent", treatment.units.quic_initials_percent},
        {"connections",
         {{"max", connections.max},
          {"head_bytes", connections.head_bytes},
          {"timeout_ns", count_of(connections.timeout)},
          {"evicts", connections.when_full == FullConnections::Evict}}},
        {"fragments",
         {{"follows_first", fragments.policy == FragmentPolicy::FollowFirst},
          {"table", fragments.table},
          {"timeout_ns", count_of(fragments.timeout)}}}};
}

std::optional<PacketTreatment> treatment_from(const Json& json) {
    if (!json.is_object()) {
        return std::nullopt;
    }
    const Json& connections = json.at("connections");
    const Json& fragments = json.at("fragments");
    const auto time = [](const Json& one) {
        return Nanoseconds{one.at("timeout_ns").get<std::int64_t>()};
    };
    return PacketTreatment{
        .malformed = json.at("malformed") == "drop" ? MalformedPolicy::Drop : MalformedPolicy::Pass,
        .tunnels = tunnels_from(json.at("tunnels")),
        .units = {.connections = {.max = connections.at("max"),
                                  .head_bytes = connections.at("head_bytes"),
                                  .timeout = time(connections),
                                  .when_full = connections.at("evicts").get<bool>()
                                                   ? FullConnections::Evict
                                                   : FullConnections::Drop},
                  .fragments = {.policy = fragments.at("follows_first").get<bool>()
                                              ? FragmentPolicy::FollowFirst
                                              : FragmentPolicy::Judge,
                                .table = fragments.at("table"),
                                .timeout = time(fragments)},
                  .on_ambiguous =
                      json.at("on_ambiguous") == "both" ? OnAmbiguous::Both : OnAmbiguous::Refuse,
                  .quic_initials_percent = json.at("quic_initials_percent")}};
}

}  // namespace sluice
