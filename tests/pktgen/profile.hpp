#pragma once
#include "tests/pktgen/contents.hpp"
#include "tests/pktgen/source_space.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sluice::pktgen {

enum class Transport : std::uint8_t { Udp, Tcp, Icmp, NotIp };

// TCP flags, RFC 9293.
inline constexpr std::uint8_t kSyn = 0x02;
inline constexpr std::uint8_t kAck = 0x10;
inline constexpr std::uint8_t kPushAck = 0x18;

// Which part of a UDP datagram in two fragments a packet is. Kinds of which the first part stands
// before the later one in a profile are sent in pairs, each pair one datagram.
struct Fragment {
    enum class Part : std::uint8_t { Whole, First, Later };
    Part part = Part::Whole;
    std::uint8_t overlap = 0;  // units of 8 bytes that both parts have
    [[nodiscard]] constexpr bool is_part() const noexcept { return part != Part::Whole; }
};

// One kind of packet of a profile, and how many of a hundred it is.
struct PacketKind {
    unsigned percent = 100;
    Transport transport = Transport::Udp;
    std::uint16_t sport = 0;  // 0: from the source
    std::uint16_t dport = 9;
    std::uint8_t tcp_flags = 0;
    Contents (*contents)() = nullptr;  // of the payload; nullptr: zeros up to the frame size
    SourceCount sources{};             // unless --sources says otherwise
    bool is_bare = false;              // no payload: a size is reached by padding behind the packet
    // Each packet from another port: the first of a connection each time.
    bool is_new_connection = false;
    Fragment fragment{};
};

struct Profile {
    std::string_view name;
    std::string_view help;
    std::vector<PacketKind> kinds;
    bool is_imix = false;  // sizes of --size imix, unless --size says otherwise
};

[[nodiscard]] std::span<const Profile> all_profiles();
[[nodiscard]] const Profile* find_profile(std::string_view name);

}  // namespace sluice::pktgen
