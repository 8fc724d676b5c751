#include "control/daemon/api/traced_json.hpp"

#include "lib/packet/ip_address.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <limits>
#include <string>

namespace sluice {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::string traced_time(std::int64_t utc_ns) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:09}Z",
                       fmt::gmtime(static_cast<std::time_t>(utc_ns / kNsPerSecond)),
                       utc_ns % kNsPerSecond);
}

std::string hex(const std::vector<std::byte>& bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    text.reserve(2 * bytes.size());
    for (const std::byte byte : bytes) {
        text += kDigits[std::to_integer<unsigned>(byte) >> 4];
        text += kDigits[std::to_integer<unsigned>(byte) & 0xF];
    }
    return text;
}

Json text_or_null(const std::string& text) {
    return text.empty() ? Json() : Json(text);
}

// 0: nothing refused it; null: never.
Json traced_wait(std::int64_t ns) {
    return ns == std::numeric_limits<std::int64_t>::max() ? Json()
                                                          : Json(static_cast<double>(ns) / 1e9);
}

Json packet_json(const TracedPacket& packet) {
    const IpVersion version = packet.is_v6 ? IpVersion::V6 : IpVersion::V4;
    Json json{{"time", traced_time(packet.utc_ns)},
              {"utc_ns", packet.utc_ns},
              {"port", packet.pair},
              {"dir", packet.dir == Direction::In ? "in" : "out"}};
    if (packet.has_ip) {
        json["src"] = to_text(version, packet.src);
        json["dst"] = to_text(version, packet.dst);
        json["proto"] = packet.proto;
    }
    if (packet.has_ports) {
        json["sport"] = packet.sport;
        json["dport"] = packet.dport;
    }
    json["bytes"] = packet.wire_size;
    json["verdict"] = name_of(packet.verdict);
    json["reason"] = row_of(packet.reason).name;
    json["rule"] = text_or_null(packet.rule);
    json["key"] = text_or_null(packet.key);
    json["limit"] = text_or_null(packet.limit);
    json["wait_s"] = traced_wait(packet.wait_ns);
    json["matched"] = packet.matched;
    json["matched_count"] = packet.matched_count;
    json["lcore"] = packet.lcore;
    if (!packet.frame.empty()) {
        json["frame"] = hex(packet.frame);
    }
    return json;
}

}  // namespace

Json traced_json(const TracedPackets& packets) {
    Json list = Json::array();
    for (const TracedPacket& packet : packets.packets) {
        list.push_back(packet_json(packet));
    }
    return {{"judges", packets.judges},
            {"has_rule", packets.has_rule},
            {"left_out", packets.left_out},
            {"packets", std::move(list)}};
}

}  // namespace sluice
