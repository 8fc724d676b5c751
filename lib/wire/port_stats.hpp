#pragma once
#include "lib/base/stat_row.hpp"
#include "lib/wire/kernel_stats.hpp"

#include <cstdint>
#include <string>

namespace sluice {

struct PortStats {
    std::string pair;
    std::string side;    // "outside", "inside"
    std::string device;  // as given
    std::string driver;
    bool link_up = false;
    bool held_down = false;  // taken down because the other side of its pair is down
    bool gone = false;       // its interface is, and so it is down
    std::uint64_t times_gone = 0;
    std::uint16_t mtu = 0;      // as it is now
    std::uint16_t set_mtu = 0;  // that the box gave its interface; 0: it has none
    std::uint16_t rx_queues = 0;
    std::uint16_t tx_queues = 0;
    bool rss = false;
    std::string asked;         // what it is to hash (`rss`)
    std::string hashes;        // what decides which worker gets a frame; empty: nothing does
    bool handed_over = false;  // workers spread its frames among themselves
    std::uint64_t rx_packets = 0;
    std::uint64_t rx_bytes = 0;
    std::uint64_t tx_packets = 0;
    std::uint64_t tx_bytes = 0;
    std::uint64_t rx_missed = 0;   // ring full: the port had no descriptor
    std::uint64_t rx_no_mbuf = 0;  // no buffer in the pool
    std::uint64_t rx_errors = 0;
    std::uint64_t tx_errors = 0;
    std::uint64_t tx_full = 0;  // the transmit queue took no more
    KernelPortStats kernel;

    static void fields(auto& archive, auto& m) {
        serialize_rows(archive, m);
        archive(m.kernel);
    }
};

template <>
inline constexpr auto kStatRows<PortStats> = std::tuple{
    StatRow{&PortStats::pair, {"pair"}},
    StatRow{&PortStats::side, {"side"}},
    StatRow{&PortStats::device, {"device"}},
    StatRow{&PortStats::driver, {"driver"}},
    StatRow{&PortStats::link_up,
            {"link_up"},
            {"sluice_port_up", "Whether frames can leave through the port."}},
    StatRow{&PortStats::held_down,
            {"held_down"},
            {"sluice_port_held_down",
             "Whether the port is down because the other side of its pair is."}},
    StatRow{&PortStats::gone,
            {"gone"},
            {"sluice_port_gone",
             "Whether the interface of the port is gone, and the port down for it."}},
    StatRow{&PortStats::times_gone,
            {"times_gone"},
            {"sluice_port_gone_total", "How often the interface of the port was gone."}},
    StatRow{&PortStats::mtu, {"mtu"}, {"sluice_port_mtu_bytes", "The port's MTU."}},
    StatRow{&PortStats::set_mtu, {"set_mtu"}},
    StatRow{&PortStats::rx_queues, {"rx_queues"}},
    StatRow{&PortStats::tx_queues, {"tx_queues"}},
    StatRow{&PortStats::rss, {"rss"}},
    StatRow{&PortStats::asked, {"asked"}},
    StatRow{&PortStats::hashes, {"hashes"}},
    StatRow{
        &PortStats::handed_over,
        {"handed_over"},
        {"sluice_port_handed_over", "Whether workers spread the port's frames among themselves."}},
    StatRow{&PortStats::rx_packets,
            {"rx_packets"},
            {"sluice_port_receive_packets_total", "Frames received."}},
    StatRow{
        &PortStats::rx_bytes, {"rx_bytes"}, {"sluice_port_receive_bytes_total", "Bytes received."}},
    StatRow{&PortStats::tx_packets,
            {"tx_packets"},
            {"sluice_port_transmit_packets_total", "Frames sent."}},
    StatRow{
        &PortStats::tx_bytes, {"tx_bytes"}, {"sluice_port_transmit_bytes_total", "Bytes sent."}},
    StatRow{&PortStats::rx_missed,
            {"rx_missed"},
            {"sluice_port_receive_missed_total", "Frames lost because the receive ring was full."}},
    StatRow{&PortStats::rx_no_mbuf,
            {"rx_no_mbuf"},
            {"sluice_port_receive_no_mbuf_total", "Frames lost for want of a packet buffer."}},
    StatRow{&PortStats::rx_errors,
            {"rx_errors"},
            {"sluice_port_receive_errors_total", "Frames the port received with an error."}},
    StatRow{&PortStats::tx_errors,
            {"tx_errors"},
            {"sluice_port_transmit_errors_total", "Frames the port failed to send."}},
    StatRow{
        &PortStats::tx_full,
        {"tx_full"},
        {"sluice_port_transmit_full_total", "Frames dropped because the transmit queue was full."}},
};

}  // namespace sluice
