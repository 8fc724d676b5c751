#include "lib/packet/byte_units.hpp"
#include "lib/packet/ethernet.hpp"
#include "lib/packet/ip_fields.hpp"
#include "lib/packet/ipv4.hpp"
#include "lib/packet/ipv6.hpp"
#include "lib/packet/parse.hpp"
#include "lib/packet/transport.hpp"

#include <cstddef>
#include <cstring>

#include <immintrin.h>

namespace sluice {
namespace {

// Where the IP header is: without a tag, and behind one.
constexpr std::uint16_t kPlain = kEthernetSize;
constexpr std::uint16_t kTagged = kEthernetSize + kVlanTagSize;
constexpr std::uint32_t kLeastIpv4 = kIpv4MinSize + kUdpSize;
constexpr std::uint32_t kLeastFrame = kPlain + kLeastIpv4;

// The EtherType and the first two bytes of what follows, as one word.
constexpr std::uint32_t kBehindType = 2;
constexpr unsigned kAfterType = 16;
constexpr std::uint32_t kPlainIpv4 = std::uint32_t{kTypeIpv4} << 8 | 0x45;  // no options
constexpr unsigned kAfterIhl = 8;
constexpr std::uint32_t kAnyIpv6 = std::uint32_t{kTypeIpv6} << 4 | 6;
constexpr unsigned kAfterVersion = 12;

// Flags and fragment offset, TTL and protocol of an IPv4 header, as one word.
constexpr std::uint32_t kFlagsAt = 6;
constexpr std::uint32_t kIsFragment = 0x3FFF'0000;  // more to come, or an offset

constexpr FieldSet with(FieldSet set, std::initializer_list<Field> more) {
    for (const Field field : more) {
        set.add(field);
    }
    return set;
}
constexpr FieldSet kUdpShape =
    with(kIpFields, {Field::Dir, Field::EthSrc, Field::EthDst, Field::EthType, Field::IpProto,
                     Field::IpFrag, Field::L4Sport, Field::L4Dport, Field::PayloadLen});
constexpr FieldSet kTcpShape =
    with(kUdpShape, {Field::TcpFlags, Field::TcpSyn, Field::TcpAck, Field::TcpFin, Field::TcpRst,
                     Field::TcpPsh, Field::TcpUrg});

// Offsets of one shape, and the fields it has.
struct Shape {
    std::uint16_t l3_at;
    std::uint16_t type;
    IpVersion version;
    std::uint16_t ip_size;
    std::uint8_t proto;

    [[nodiscard]] constexpr std::uint16_t l4_at() const { return l3_at + ip_size; }
    [[nodiscard]] constexpr FieldSet fields() const {
        const FieldSet behind_tags = proto == kProtoUdp ? kUdpShape : kTcpShape;
        return l3_at == kTagged ? with(behind_tags, {Field::VlanId}) : behind_tags;
    }
};
constexpr Shape ipv4(std::uint16_t l3_at, std::uint8_t proto) {
    return {l3_at, kTypeIpv4, IpVersion::V4, kIpv4MinSize, proto};
}
constexpr Shape ipv6(std::uint16_t l3_at, std::uint8_t proto) {
    return {l3_at, kTypeIpv6, IpVersion::V6, kIpv6Size, proto};
}

// What all flows of one shape have in common.
template <Shape kShape>
inline constexpr PacketHeaders kLike{.l3_at = kShape.l3_at,
                                     .outer_l3_at = kShape.l3_at,
                                     .l4_at = kShape.l4_at(),
                                     .payload_at = kShape.l4_at() + kUdpSize,
                                     .eth_type = kShape.type,
                                     .ip_version = kShape.version,
                                     .outer_version = kShape.version,
                                     .proto = kShape.proto};

template <Shape kShape>
void fill_constants(PacketHeaders& headers) noexcept {
    constexpr FieldSet kWithPort = with(kShape.fields(), {Field::Port});
    constexpr std::size_t kAt = offsetof(PacketHeaders, l3_at);
    headers.fields = headers.port != 0 ? kWithPort : kShape.fields();
    std::memcpy(reinterpret_cast<std::byte*>(&headers) + kAt,
                reinterpret_cast<const std::byte*>(&kLike<kShape>) + kAt, kHeaderConstants);
}

// The header's own words; false: it is not the common shape. `room` is what the IP packet has for
// it, a UDP header at least.
template <Shape kShape>
bool fill_udp(ByteView bytes, std::uint32_t room, PacketHeaders& headers) noexcept {
    const std::uint32_t length = load_be16(bytes, kShape.l4_at() + 4U);
    // One compare for both ends of the range, as below.
    if (length - kUdpSize > room - kUdpSize) [[unlikely]] {
        return false;
    }
    fill_constants<kShape>(headers);
    headers.payload_len = length - kUdpSize;
    return true;
}
template <Shape kShape>
bool fill_tcp(ByteView bytes, std::uint32_t room, PacketHeaders& headers) noexcept {
    if (room < kTcpMinSize) {
        return false;
    }
    const std::uint16_t words = load_be16(bytes, kShape.l4_at() + 12U);
    const std::uint32_t size = (words >> 12) * 4U;
    if (size < kTcpMinSize || size > room) {
        return false;
    }
    fill_constants<kShape>(headers);
    headers.tcp_flags = words & 0xFFF;
    headers.payload_len = room - size;
    headers.payload_at = static_cast<std::uint16_t>(kShape.l4_at() + size);
    return true;
}

// `claimed`: the length of the IP packet by its header, which lies within the frame and holds a UDP
// header at least.
template <Shape kShape>
bool fill(ByteView bytes, std::uint32_t claimed, PacketHeaders& headers) noexcept {
    const std::uint32_t room = claimed - kShape.ip_size;
    const bool is_common = kShape.proto == kProtoUdp ? fill_udp<kShape>(bytes, room, headers)
                                                     : fill_tcp<kShape>(bytes, room, headers);
    if (!is_common) [[unlikely]] {
        return false;
    }
    const auto held = static_cast<std::uint32_t>(bytes.size());
    headers.ip_len = claimed;
    headers.byte_units = sound_byte_units(claimed, held - kShape.l3_at, held);
    const std::uint32_t ports = load_be32(bytes, kShape.l4_at());
    static_assert(offsetof(PacketHeaders, sport) ==
                  offsetof(PacketHeaders, dport) + sizeof(PacketHeaders::dport));
    std::memcpy(reinterpret_cast<std::byte*>(&headers) + offsetof(PacketHeaders, dport), &ports,
                sizeof(ports));
    return true;
}

// With zeroes behind it, in one store.
void store_ipv4(ByteView bytes, std::size_t at, IpAddress& address) noexcept {
    std::uint32_t word;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(address.bytes.data()),
                     _mm_cvtsi32_si128(static_cast<int>(word)));
}

// `start`: the type and what is behind it.
template <std::uint16_t kAt>
bool parse_plain_ipv4(ByteView bytes, std::uint32_t start, Tunnels tunnels,
                      PacketHeaders& headers) noexcept {
    const std::uint32_t total = load_be16(bytes, kAt + 2);
    const std::uint32_t flags = load_be32(bytes, kAt + kFlagsAt);
    const auto proto = static_cast<std::uint8_t>(flags);
    const auto most = static_cast<std::uint32_t>(bytes.size()) - kAt;
    // One compare for both ends of the range: what is below the least wraps round.
    if ((flags & kIsFragment) != 0 || total - kLeastIpv4 > most - kLeastIpv4) {
        return false;
    }
    store_ipv4(bytes, kAt + kIpv4SrcAt, headers.src);
    store_ipv4(bytes, kAt + kIpv4DstAt, headers.dst);
    headers.ttl = static_cast<std::uint8_t>(flags >> 8);
    headers.dscp = static_cast<std::uint8_t>(start) >> 2;
    if (proto == kProtoUdp) [[likely]] {
        return !tunnels.vxlan && fill<ipv4(kAt, kProtoUdp)>(bytes, total, headers);
    }
    return proto == kProtoTcp && fill<ipv4(kAt, kProtoTcp)>(bytes, total, headers);
}

template <std::uint16_t kAt>
bool parse_plain_ipv6(ByteView bytes, std::uint32_t start, Tunnels tunnels,
                      PacketHeaders& headers) noexcept {
    if (bytes.size() < kAt + kIpv6Size + kUdpSize) {
        return false;
    }
    const std::uint32_t payload = load_be16(bytes, kAt + 4);
    const std::uint8_t proto = load_u8(bytes, kAt + 6);
    if (payload < kUdpSize || payload > bytes.size() - kAt - kIpv6Size) {
        return false;
    }
    std::memcpy(headers.src.bytes.data(), bytes.data() + kAt + kIpv6SrcAt, 16);
    std::memcpy(headers.dst.bytes.data(), bytes.data() + kAt + kIpv6DstAt, 16);
    headers.ttl = load_u8(bytes, kAt + 7);
    headers.dscp = static_cast<std::uint8_t>((start >> 6) & 0x3F);
    if (proto == kProtoUdp) {
        return !tunnels.vxlan && fill<ipv6(kAt, kProtoUdp)>(bytes, kIpv6Size + payload, headers);
    }
    return proto == kProtoTcp && fill<ipv6(kAt, kProtoTcp)>(bytes, kIpv6Size + payload, headers);
}

template <std::uint16_t kAt>
bool parse_ip_shape(ByteView bytes, std::uint32_t start, Tunnels tunnels,
                    PacketHeaders& headers) noexcept {
    if (start >> kAfterIhl == kPlainIpv4) [[likely]] {
        return parse_plain_ipv4<kAt>(bytes, start, tunnels, headers);
    }
    return start >> kAfterVersion == kAnyIpv6 &&
           parse_plain_ipv6<kAt>(bytes, start, tunnels, headers);
}

// A frame with a tag. Not inlined: what most frames are shall have the registers.
[[gnu::noinline]] bool parse_tagged(ByteView bytes, Tunnels tunnels,
                                    PacketHeaders& headers) noexcept {
    if (bytes.size() < kTagged + kLeastIpv4) {
        return false;
    }
    headers.vlan_id = load_be16(bytes, kPlain) & 0xFFF;
    return parse_ip_shape<kTagged>(bytes, load_be32(bytes, kTagged - kBehindType), tunnels,
                                   headers);
}

}  // namespace

bool parse_common_shape(const FrameView& frame, Tunnels tunnels, PacketHeaders& headers) noexcept {
    const ByteView bytes = frame.bytes;
    // Offsets in PacketHeaders are 16 bits, and a frame that is not all at hand is the walk's
    // business.
    const std::size_t size = bytes.size();
    if (size - kLeastFrame > 0xFFFF - kLeastFrame ||
        frame.wire_size > static_cast<std::uint32_t>(size)) {
        return false;
    }
    const std::uint32_t start = load_be32(bytes, kPlain - kBehindType);
    if (start >> kAfterIhl != kPlainIpv4 &&
        is_vlan_type(static_cast<std::uint16_t>(start >> kAfterType))) [[unlikely]] {
        return parse_tagged(bytes, tunnels, headers);
    }
    return parse_ip_shape<kPlain>(bytes, start, tunnels, headers);
}

}  // namespace sluice
