#include "control/cli/trace/traced_text.hpp"

#include <fmt/format.h>

namespace sluice {
namespace {

constexpr std::size_t kTimeAt = 11;  // behind the date, in an ISO time
constexpr std::size_t kTimeSize = 15;

std::string protocol_text(unsigned proto) {
    switch (proto) {
        case 1:
            return "icmp";
        case 6:
            return "tcp";
        case 17:
            return "udp";
        case 58:
            return "icmpv6";
        default:
            return fmt::format("proto {}", proto);
    }
}

std::string end_text(const Json& packet, const char* address, const char* port) {
    const auto host = text_at(packet, address);
    if (!packet.contains(port)) {
        return host;
    }
    const bool is_v6 = host.find(':') != std::string::npos;
    return (is_v6 ? "[" + host + "]" : host) + fmt::format(":{}", packet.at(port).get<unsigned>());
}

std::string flow_text(const Json& packet) {
    if (!packet.contains("src")) {
        return "no IP";
    }
    return fmt::format("{} > {} {}", end_text(packet, "src", "sport"),
                       end_text(packet, "dst", "dport"),
                       protocol_text(packet.at("proto").get<unsigned>()));
}

std::string wait_word(const Json& wait) {
    if (wait.is_null()) {
        return " wait=never";
    }
    const auto seconds = wait.get<double>();
    return seconds == 0   ? ""
           : seconds < 10 ? fmt::format(" wait={:.3f}s", seconds)
                          : fmt::format(" wait={:.0f}s", seconds);
}

// `name=value`, quoted where a reader could not tell its end.
std::string word_of(const Json& packet, const char* name) {
    const Json& value = packet.at(name);
    if (value.is_null()) {
        return "";
    }
    const auto text = value.get<std::string>();
    const char* const quote = text.find(' ') == std::string::npos ? "" : "\"";
    return fmt::format(" {}={}{}{}", name, quote, text, quote);
}

// The service that the packet is of, and why that one, which is in monitor, would refuse it.
std::string service_word(const Json& packet) {
    return packet.contains("service") ? word_of(packet, "service") + word_of(packet, "would_refuse")
                                      : "";
}

std::string matched_text(const Json& packet) {
    const auto count = packet.at("matched_count").get<std::size_t>();
    const Json& names = packet.at("matched");
    if (count == 0 || (count == 1 && names.at(0) == packet.at("rule"))) {
        return "";
    }
    std::string text = " matched=";
    for (std::size_t i = 0; i < names.size(); ++i) {
        text += (i == 0 ? "" : ",") + names.at(i).get<std::string>();
    }
    return text + (count > names.size() ? fmt::format(",+{}", count - names.size()) : "");
}

}  // namespace

std::string traced_comment(const Json& packet) {
    return text_at(packet, "verdict") + " " + text_at(packet, "reason") + word_of(packet, "rule") +
           word_of(packet, "key") + word_of(packet, "limit") + wait_word(packet.at("wait_s")) +
           service_word(packet) + matched_text(packet);
}

std::string traced_line(const Json& packet) {
    return fmt::format("{} {:<3} {} {} {} B: {}\n",
                       text_at(packet, "time").substr(kTimeAt, kTimeSize), text_at(packet, "dir"),
                       text_at(packet, "port"), flow_text(packet), count_at(packet, "bytes"),
                       traced_comment(packet));
}

}  // namespace sluice
