#pragma once
#include "lib/base/bytes.hpp"
#include "lib/packet/field.hpp"
#include "lib/packet/ip_address.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

enum class Direction : std::uint8_t { In, Out };  // entered on the outside, on the inside
enum class Fragment : std::uint8_t { None, First, Later };

// How parsing ended. From TruncatedL2 on, the frame is malformed: its own policy decides, no rule
// sees it.
enum class Parsed : std::uint8_t {
    Ok,
    NotIp,
    FirstFragment,
    LaterFragment,
    Cut,  // only the bytes at hand end early (snap length): fields beyond are absent
    TruncatedL2,
    TruncatedL3,
    TruncatedL4,
    BadIpHeader,
    BadL4Header,
    TooDeep,
};

[[nodiscard]] constexpr bool is_malformed(Parsed parsed) noexcept {
    return parsed >= Parsed::TruncatedL2;
}

// A frame as it came: the contiguous bytes at hand, and how long it was on the wire (without FCS).
// wire_size > bytes.size() when a capture was cut, or when the rest lies in further mbuf segments.
struct FrameView {
    ByteView bytes;
    std::uint32_t wire_size = 0;
    std::uint32_t readable_behind = 0;  // bytes behind the end that may be read all the same
};

class UnitTexts;

// Every field a rule can test: the parser's whole output, and room for origins. A value counts only
// if `fields` has it. With tunnels looked into, ip, l4 and payload are the innermost; eth and vlan
// the outermost.
struct PacketHeaders {
    FieldSet fields;
    IpAddress src;
    IpAddress dst;
    std::uint64_t port = 0;  // port_name() of the pair; set by the receiver of the frame
    // The unit of a later layer that is matched and keyed; nullptr: the packet completes none.
    const UnitTexts* unit = nullptr;

    std::uint16_t l3_at = 0;        // offset of the IP header that ip.* refers to; 0 = not IP
    std::uint16_t outer_l3_at = 0;  // offset of the outermost IP header; 0 = not IP
    std::uint16_t l4_at = 0;
    std::uint16_t payload_at = 0;
    std::uint16_t eth_type = 0;
    IpVersion ip_version = IpVersion::None;
    IpVersion outer_version = IpVersion::None;
    std::uint8_t proto = 0;
    Fragment frag = Fragment::None;
    Parsed parsed = Parsed::Ok;
    std::uint8_t icmp_type = 0;

    std::uint32_t ip_len = 0;       // IPv4 total length; IPv6 40 + payload length; as claimed
    std::uint32_t byte_units = 0;   // what `per: byte` charges (always set)
    std::uint32_t payload_len = 0;  // after the TCP, UDP or ICMP header, by the IP length
    std::uint16_t sport = 0;
    std::uint16_t dport = 0;
    std::uint16_t vlan_id = 0;
    std::uint16_t vlan_inner_id = 0;
    std::uint8_t ttl = 0;
    std::uint8_t dscp = 0;
    std::uint16_t tcp_flags = 0;  // 12 bits, as Wireshark's tcp.flags (with NS and reserved)
    std::uint8_t icmp_code = 0;
    Direction dir = Direction::In;

    // The origins of `src` and `dst`; GeoTable fills them in.
    std::uint16_t src_country = 0;  // country_number()
    std::uint16_t dst_country = 0;
    // Offset of the outermost IP header that makes the frame a first fragment, of a tunnel that was
    // looked into behind it; 0: there is none.
    std::uint16_t fragment_around_at = 0;
    std::uint32_t src_asn = 0;
    std::uint32_t dst_asn = 0;

    [[nodiscard]] bool operator==(const PacketHeaders&) const noexcept = default;
};
static_assert(sizeof(PacketHeaders) <= 128, "two cache lines");

// The value of a Number, Flag, Mac or Name field. The caller has checked that it is there.
// `frame` gives the MAC addresses, which PacketHeaders does not copy.
[[nodiscard]] std::uint64_t read_number(Field field, const PacketHeaders& headers,
                                        ByteView frame) noexcept;

// The value of an Address field, with its version. The caller has checked that it is there.
[[nodiscard]] VersionedAddress read_address(Field field, const PacketHeaders& headers,
                                            ByteView frame) noexcept;

}  // namespace sluice
