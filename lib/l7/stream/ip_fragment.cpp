#include "lib/l7/stream/ip_fragment.hpp"

#include "lib/packet/cursor.hpp"
#include "lib/packet/ipv4.hpp"
#include "lib/packet/ipv6.hpp"
#include "lib/packet/vlan_tags.hpp"

#include <algorithm>
#include <span>
#include <type_traits>

namespace sluice {
namespace {

constexpr std::uint8_t kFragmentHeader = 44;
constexpr std::uint8_t kAuthentication = 51;
constexpr unsigned kMostExtensions = 16;

// The name that all fragments of a datagram have in common.
struct DatagramName {
    IpAddress src;
    IpAddress dst;
    std::uint64_t port;
    std::uint32_t identification;
    std::uint32_t tags;
    std::uint32_t proto;  // of IPv4: the fragments of one IPv6 datagram may name different ones
    std::uint32_t version_and_dir;
};
static_assert(std::has_unique_object_representations_v<DatagramName>, "its bytes are hashed");

std::uint32_t both_tags(const PacketHeaders& headers) noexcept {
    const VlanTags tags = vlan_tags(headers);
    return std::uint32_t{tags.outer} << 16 | tags.inner;
}

// The place of a fragment's bytes in its datagram.
struct FragmentPlace {
    std::uint32_t identification = 0;
    std::uint16_t offset = 0;
    bool more = false;
    std::uint32_t payload_at = 0;  // in the frame
};

class HeaderBytes {
public:
    explicit HeaderBytes(ByteView frame) noexcept : frame_{frame} {}
    [[nodiscard]] bool has(std::size_t at, std::size_t size) const noexcept {
        return at <= frame_.size() && size <= frame_.size() - at;
    }
    [[nodiscard]] std::uint32_t u8(std::size_t at) const noexcept {
        return std::to_integer<std::uint32_t>(frame_[at]);
    }
    [[nodiscard]] std::uint32_t u16(std::size_t at) const noexcept {
        return u8(at) << 8 | u8(at + 1);
    }
    [[nodiscard]] std::uint32_t u32(std::size_t at) const noexcept {
        return u16(at) << 16 | u16(at + 2);
    }

private:
    ByteView frame_;
};

std::optional<FragmentPlace> find_v4(const HeaderBytes& bytes, std::size_t at) noexcept {
    if (!bytes.has(at, 20)) {
        return std::nullopt;
    }
    const std::uint32_t word = bytes.u16(at + 6);
    return FragmentPlace{.identification = bytes.u16(at + 4),
                         .offset = static_cast<std::uint16_t>((word & 0x1FFF) * 8),
                         .more = (word & 0x2000) != 0,
                         .payload_at = static_cast<std::uint32_t>(at + (bytes.u8(at) & 0xF) * 4)};
}

// The header that fragments: one of several is enough, and the parser reads none behind an offset.
std::optional<FragmentPlace> find_v6(const HeaderBytes& bytes, std::size_t at) noexcept {
    if (!bytes.has(at, kIpv6Size)) {
        return std::nullopt;
    }
    std::uint32_t next = bytes.u8(at + 6);
    at += kIpv6Size;
    for (unsigned count = 0; count < kMostExtensions && bytes.has(at, 8); ++count) {
        if (next == kFragmentHeader && (bytes.u16(at + 2) & 0xFFF9) != 0) {
            const std::uint32_t word = bytes.u16(at + 2);
            return FragmentPlace{.identification = bytes.u32(at + 4),
                                 .offset = static_cast<std::uint16_t>(word & 0xFFF8),
                                 .more = (word & 1) != 0,
                                 .payload_at = static_cast<std::uint32_t>(at + 8)};
        }
        const std::uint32_t length = bytes.u8(at + 1);
        const std::uint32_t size = next == kFragmentHeader   ? 8
                                   : next == kAuthentication ? (length + 2) * 4
                                                             : (length + 1) * 8;
        next = bytes.u8(at);
        at += size;
    }
    return std::nullopt;
}

std::uint8_t check_of(const FragmentPlace& place, ByteView bytes, const KeyHasher& hash) noexcept {
    struct Contents {
        std::uint64_t bytes;
        std::uint32_t size;
        std::uint16_t offset;
        std::uint16_t more;
    };
    static_assert(std::has_unique_object_representations_v<Contents>);
    const Contents contents{.bytes = hash.digest(bytes),
                            .size = static_cast<std::uint32_t>(bytes.size()),
                            .offset = place.offset,
                            .more = static_cast<std::uint16_t>(place.more ? 1 : 0)};
    return static_cast<std::uint8_t>(hash.digest(std::as_bytes(std::span{&contents, 1})) % 255 + 1);
}

}  // namespace

std::optional<IpFragment> read_fragment(const PacketHeaders& headers, const FrameView& frame,
                                        const KeyHasher& hash) noexcept {
    if (headers.frag == Fragment::None || !headers.fields.has(Field::IpFrag)) {
        return std::nullopt;
    }
    const bool v6 = headers.ip_version == IpVersion::V6;
    const HeaderBytes bytes{frame.bytes};
    const std::optional<FragmentPlace> place =
        v6 ? find_v6(bytes, headers.l3_at) : find_v4(bytes, headers.l3_at);
    if (!place) {
        return std::nullopt;
    }
    const bool claims = headers.ip_len > (v6 ? kIpv6Size : 0);
    const std::uint32_t end =
        claims ? std::min(headers.l3_at + headers.ip_len, frame.wire_size) : frame.wire_size;
    const std::uint32_t size = end > place->payload_at ? end - place->payload_at : 0;
    const std::size_t at = std::min<std::size_t>(place->payload_at, frame.bytes.size());
    const ByteView payload =
        frame.bytes.subspan(at, std::min<std::size_t>(size, frame.bytes.size() - at));
    const DatagramName datagram{
        .src = headers.src,
        .dst = headers.dst,
        .port = headers.port,
        .identification = place->identification,
        .tags = both_tags(headers),
        .proto = v6 ? std::uint8_t{0} : headers.proto,
        .version_and_dir = static_cast<std::uint32_t>(headers.ip_version) * 2 +
                           static_cast<std::uint32_t>(headers.dir)};
    return IpFragment{
        .digest = hash.digest(std::as_bytes(std::span{&datagram, 1})),
        .offset = place->offset,
        .size = static_cast<std::uint16_t>(std::min<std::uint32_t>(size, 0xFFFF)),
        .more = place->more,
        .at = place->payload_at,
        .check = place->offset != 0 ? check_of(*place, payload, hash) : std::uint8_t{0}};
}

std::optional<IpFragment> read_fragment_around(const PacketHeaders& headers, const FrameView& frame,
                                               const KeyHasher& hash) noexcept {
    if (headers.fragment_around_at == 0) {
        return std::nullopt;
    }
    PacketHeaders around = headers;
    around.l3_at = headers.fragment_around_at;
    const auto held = static_cast<std::uint32_t>(frame.bytes.size());
    const std::uint32_t wire = std::max(frame.wire_size, held);
    Cursor cursor{.bytes = frame.bytes, .at = around.l3_at, .end = wire};
    const bool is_v6 = cursor.u8(0) >> 4 == 6;
    (void)(is_v6 ? parse_ipv6(cursor, around) : parse_ipv4(cursor, around));
    return read_fragment(around, frame, hash);
}

}  // namespace sluice
