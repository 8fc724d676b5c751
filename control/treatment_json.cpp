#include "control/treatment_json.hpp"

#include <cstdint>

namespace sluice {
namespace {

std::int64_t count_of(Nanoseconds time) {
    return time.count();
}

}  // namespace

Json treatment_json(const PacketTreatment& treatment) {
    const ConnectionOptions& connections = treatment.units.connections;
    const FragmentOptions& fragments = treatment.units.fragments;
    return {
        {"malformed", treatment.malformed == MalformedPolicy::Drop ? "drop" : "pass"},
        {"tunnels",
         {{"gre", treatment.tunnels.gre},
          {"vxlan", treatment.tunnels.vxlan},
          {"ipip", treatment.tunnels.ipip}}},
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
    const Json& tunnels = json.at("tunnels");
    const Json& connections = json.at("connections");
    const Json& fragments = json.at("fragments");
    const auto time = [](const Json& one) {
        return Nanoseconds{one.at("timeout_ns").get<std::int64_t>()};
    };
    return PacketTreatment{
        .malformed = json.at("malformed") == "drop" ? MalformedPolicy::Drop : MalformedPolicy::Pass,
        .tunnels = {.gre = tunnels.at("gre"),
                    .vxlan = tunnels.at("vxlan"),
                    .ipip = tunnels.at("ipip")},
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
