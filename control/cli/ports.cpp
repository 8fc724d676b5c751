#include "control/cli/commands.hpp"
#include "control/cli/human_units.hpp"
#include "control/cli/ports_text.hpp"
#include "control/cli/table.hpp"

#include <fmt/format.h>

#include <array>

namespace sluice {
namespace {

std::string text_in(const Json& object, const char* member) {
    return object.at(member).get<std::string>();
}

std::uint64_t count_of(const Json& port, const char* member) {
    return port.at(member).get<std::uint64_t>();
}

// The fields that choose the worker of a frame, and whether workers hand frames over.
std::string spread_text(const Json& port) {
    const std::string hashes = text_in(port, "hashes");
    const bool handed = port.at("handed_over").get<bool>();
    return handed ? hashes + ", handed over" : hashes;
}

std::string link_text(const Json& port) {
    if (port.value("gone", false)) {
        return "gone";
    }
    const bool up = port.at("link_up").get<bool>();
    return port.at("held_down").get<bool>() ? "held down" : (up ? "up" : "down");
}

const Json* port_before(const Json* before, const Json& port) {
    if (before == nullptr) {
        return nullptr;
    }
    for (const Json& one : before->at("ports")) {
        if (one.at("pair") == port.at("pair") && one.at("side") == port.at("side")) {
            return &one;
        }
    }
    return nullptr;
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
        const auto count = [&](const char* member) { return grouped(count_of(port, member)); };
        table.row({text_in(port, "pair"), text_in(port, "side"), text_in(port, "device"),
                   link_text(port), count("mtu"), count("rx_queues"), spread_text(port),
                   count("rx_packets"), count("tx_packets"), count("rx_missed"),
                   count("rx_no_mbuf"), count("rx_errors"), count("tx_errors"), count("tx_full"),
                   byte_count_text(count_of(port, "rx_bytes")),
                   byte_count_text(count_of(port, "tx_bytes"))});
    }
    return table.text();
}

// What passes through each port now.
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
        const Json* before = port_before(sample.before, port);
        const auto rate = [&](const char* member, auto&& text) {
            return before == nullptr
                       ? std::string{}
                       : text(count_of(port, member), count_in(before, member), sample.seconds);
        };
        table.row({text_in(port, "pair"), text_in(port, "side"), link_text(port),
                   rate("rx_packets", rate_text), rate("rx_bytes", bit_rate_of),
                   rate("tx_packets", rate_text), rate("tx_bytes", bit_rate_of),
                   byte_count_text(count_of(port, "rx_bytes")),
                   byte_count_text(count_of(port, "tx_bytes"))});
    }
    return table.text();
}

// Empty where no port has lost any.
std::string loss_table(const Sample& sample) {
    Table table{{{"PAIR"}, {"SIDE"}, {"LOST"}, {"FRAMES", kRight}, {"/S", kRight}}, 2};
    for (const Json& port : sample.now.at("ports")) {
        const Json* before = port_before(sample.before, port);
        for (const Cause& cause : kCauses) {
            const std::uint64_t lost = count_of(port, cause.member);
            if (lost != 0) {
                table.row({text_in(port, "pair"), text_in(port, "side"), std::string{cause.text},
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
