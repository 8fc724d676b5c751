#include "control/cli/commands.hpp"
#include "control/cli/human_units.hpp"
#include "control/cli/ports_text.hpp"
#include "control/cli/table.hpp"

#include <fmt/format.h>

#include <array>

namespace sluice {
namespace {

// The fields that choose the worker of a frame, and whether workers hand frames over.
std::string spread_text(const Json& port) {
    const std::string hashes = text_at(port, "hashes");
    const bool handed = port.at("handed_over").get<bool>();
    const std::string asked = port.value("asked", hashes);
    return handed                              ? hashes + ", handed over"
           : hashes.empty() || asked == hashes ? hashes
                                               : hashes + ", not " + asked;
}

std::string link_text(const Json& port) {
    if (port.value("gone", false)) {
        return "gone";
    }
    const bool up = port.at("link_up").get<bool>();
    return port.at("held_down").get<bool>() ? "held down" : (up ? "up" : "down");
}

// With the MTU that the port was set up for, where its interface has a greater one now.
std::string mtu_text(const Json& port) {
    const std::uint64_t mtu = count_at(port, "mtu");
    const std::uint64_t started = port.value("set_mtu", std::uint64_t{0});
    return started != 0 && mtu > started
               ? fmt::format("{}, set up for {}", grouped(mtu), grouped(started))
               : grouped(mtu);
}

// Why frames were lost at a port.
struct Cause {
    const char* member;
    std::string_view text;
};
constexpr auto kCauses = std::to_array<Cause>({
    {"rx_missed", "receive ring full"},
    {"rx_no_mbuf", "no packet buffer"},
    {"rx_errors", "received with an error"},
    {"tx_errors", "not sent by the port"},
    {"tx_full", "transmit queue full"},
});

std::string state_table(const Json& ports) {
    Table table{{{"PAIR"},
                 {"SIDE"},
                 {"DEVICE"},
                 {"LINK"},
                 {"MTU", kRight},
                 {"QUEUES", kRight},
                 {"SPREAD BY"},
                 {"RX PACKETS", kRight},
                 {"TX PACKETS", kRight},
                 {"MISSED", kRight},
                 {"NO MBUF", kRight},
                 {"RX ERRORS", kRight},
                 {"TX ERRORS", kRight},
                 {"TX FULL", kRight},
                 {"RX BYTES", kRight},
                 {"TX BYTES", kRight}},
                2};
    for (const Json& port : ports) {
        const auto count = [&](const char* member) { return grouped(count_at(port, member)); };
        table.row({text_at(port, "pair"), text_at(port, "side"), text_at(port, "device"),
                   link_text(port), mtu_text(port), count("rx_queues"), spread_text(port),
                   count("rx_packets"), count("tx_packets"), count("rx_missed"),
                   count("rx_no_mbuf"), count("rx_errors"), count("tx_errors"), count("tx_full"),
                   byte_count_text(count_at(port, "rx_bytes")),
                   byte_count_text(count_at(port, "tx_bytes"))});
    }
    return table.text();
}

// The traffic through each port now.
std::string rate_table(const Sample& sample) {
    Table table{{{"PAIR"},
                 {"SIDE"},
                 {"LINK"},
                 {"RX PACKETS/S", kRight},
                 {"RX BIT/S", kRight},
                 {"TX PACKETS/S", kRight},
                 {"TX BIT/S", kRight},
                 {"RX BYTES", kRight},
                 {"TX BYTES", kRight}},
                2};
    for (const Json& port : sample.now.at("ports")) {
        const Json* before = item_before(sample, "ports", port, {"pair", "side"});
        const auto rate = [&](const char* member, auto&& text) {
            return before == nullptr
                       ? std::string{}
                       : text(count_at(port, member), count_in(before, member), sample.seconds);
        };
        table.row({text_at(port, "pair"), text_at(port, "side"), link_text(port),
                   rate("rx_packets", rate_text), rate("rx_bytes", bit_rate_of),
                   rate("tx_packets", rate_text), rate("tx_bytes", bit_rate_of),
                   byte_count_text(count_at(port, "rx_bytes")),
                   byte_count_text(count_at(port, "tx_bytes"))});
    }
    return table.text();
}

// Empty where no port has lost any.
std::string loss_table(const Sample& sample) {
    Table table{{{"PAIR"}, {"SIDE"}, {"LOST"}, {"FRAMES", kRight}, {"/S", kRight}}, 2};
    for (const Json& port : sample.now.at("ports")) {
        const Json* before = item_before(sample, "ports", port, {"pair", "side"});
        for (const Cause& cause : kCauses) {
            const std::uint64_t lost = count_at(port, cause.member);
            if (lost != 0) {
                table.row({text_at(port, "pair"), text_at(port, "side"), std::string{cause.text},
                           grouped(lost),
                           before == nullptr
                               ? ""
                               : rate_text(lost, count_in(before, cause.member), sample.seconds)});
            }
        }
    }
    return table.empty() ? "no port has lost a frame\n" : table.text();
}

}  // namespace

std::string ports_text(const Json& document) {
    return state_table(document.at("ports"));
}

std::string port_rates_text(const Sample& sample) {
    return rate_table(sample) + "\n" + loss_table(sample);
}

ExitCode run_ports(const Options& options) {
    return show_with_rates(options, "/v1/ports", [&](const Sample& sample) {
        return options.watch ? port_rates_text(sample) : ports_text(sample.now);
    });
}

}  // namespace sluice
