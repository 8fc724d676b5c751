#pragma once
#include "lib/packet/internet_checksum.hpp"
#include "lib/packet/packet_headers.hpp"
#include "lib/packet/toward.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

// Why nothing can be made for a frame.
enum class RouteFault : std::uint8_t {
    None,
    NoPorts,       // neither TCP nor UDP over IP, a later fragment, or cut before the ports
    Labels,        // MPLS: the labels of the way back are unknown
    Tunnel,        // the addresses are inside another IP packet
    TooManyTags,   // the link layer's headers are longer than kMostLinkBytes
    GroupAddress,  // of several hosts, of this host, or of none
};
inline constexpr auto kRouteFaults = std::to_array<std::string_view>(
    {"none", "no_ports", "labels", "tunnel", "too_many_tags", "group_address"});
[[nodiscard]] constexpr std::string_view name_of(RouteFault fault) noexcept {
    return kRouteFaults[static_cast<std::size_t>(fault)];
}

inline constexpr std::size_t kMostLinkBytes = 64;
// An Ethernet frame without its FCS has at least so many bytes.
inline constexpr std::size_t kLeastFrame = 60;

// The headers that lead a made frame back to where a received one came from, or on to where it
// goes. Link headers are the received ones: Ethernet, VLAN tags, PPPoE. The IP header is new: no
// options, no extension headers, hop limit 64, DSCP 0, an identification of 0 with DF, as RFC 6864
// has it for a packet that nobody may fragment.
class FrameRoute {
public:
    // `frame` is what parse_frame() filled `headers` from; the route refers to its bytes. Without
    // a fault `route` is set.
    [[nodiscard]] static RouteFault find(const PacketHeaders& headers, ByteView frame,
                                         Toward toward, FrameRoute& route) noexcept;

    // The way back of a route toward the destination.
    [[nodiscard]] FrameRoute reversed() const noexcept;

    [[nodiscard]] std::uint16_t sport() const noexcept { return sport_; }
    [[nodiscard]] std::uint16_t dport() const noexcept { return dport_; }

    // The place of the transport header, and the whole frame's size with so many bytes from there.
    [[nodiscard]] std::size_t transport_at() const noexcept {
        return link_.size() + (version_ == IpVersion::V4 ? 20U : 40U);
    }
    [[nodiscard]] std::size_t frame_size(std::size_t transport) const noexcept;

    // Writes all but the `transport` bytes at transport_at(): the headers before them, and zeroes
    // behind them where the frame would be too short. `frame` has frame_size(transport) bytes.
    void write_headers(MutableBytes frame, std::uint8_t proto,
                       std::size_t transport) const noexcept;
    // The checksum of a transport header and payload in the frame, their own checksum field zero.
    [[nodiscard]] std::uint16_t transport_checksum(ByteView frame, std::uint8_t proto,
                                                   std::size_t transport) const noexcept;
    // The same where what the payload adds is known; the header has so many bytes.
    [[nodiscard]] std::uint16_t transport_checksum(ByteView header, std::uint8_t proto,
                                                   std::size_t transport,
                                                   const InternetChecksum& payload) const noexcept;

private:
    void rotate() noexcept;
    void write_link(MutableBytes frame, std::size_t packet) const noexcept;
    void write_ipv4(MutableBytes header, std::uint8_t proto, std::size_t transport) const noexcept;
    void write_ipv6(MutableBytes header, std::uint8_t proto, std::size_t transport) const noexcept;

    ByteView link_;
    std::size_t pppoe_at_ = 0;  // of the PPPoE header; 0: there is none
    bool swaps_ends_ = false;
    IpVersion version_ = IpVersion::V4;
    IpAddress src_;
    IpAddress dst_;
    std::uint16_t sport_ = 0;
    std::uint16_t dport_ = 0;
};

}  // namespace sluice
