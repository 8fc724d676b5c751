#include "lib/packet/checksum_check.hpp"

#include "lib/packet/internet_checksum.hpp"
#include "lib/packet/ip_options.hpp"
#include "lib/packet/ipv4.hpp"
#include "lib/packet/ipv6.hpp"
#include "lib/packet/transport.hpp"

namespace sluice {
namespace {

constexpr std::size_t kTcpChecksumAt = 16;
constexpr std::size_t kUdpLengthAt = 4;
constexpr std::size_t kUdpChecksumAt = 6;
constexpr std::size_t kLongestPacket = 0xFFFF;

bool ip_is_wrong(const PacketHeaders& headers, ByteView bytes) noexcept {
    if (headers.ip_version != IpVersion::V4) {
        return false;
    }
    InternetChecksum sum;
    sum.add(bytes.subspan(headers.l3_at, std::size_t{headers.l4_at} - headers.l3_at));
    return !sum.is_right();
}

// The ends of a packet, and its protocol.
struct Ends {
    IpVersion version;
    const IpAddress& src;
    const IpAddress& dst;
    std::uint8_t proto;

    [[nodiscard]] InternetChecksum pseudo_header(std::uint16_t size) const noexcept {
        InternetChecksum sum;
        sum.add_pseudo_header(version, src, dst, proto, size);
        return sum;
    }
};

// Adapters that cut segments up add the length of each.
bool is_unfinished(const Ends& ends, std::uint16_t size, std::uint16_t field) noexcept {
    const auto folded = [](const InternetChecksum& sum) {
        return static_cast<std::uint16_t>(~sum.value());
    };
    return field == folded(ends.pseudo_header(size)) || field == folded(ends.pseudo_header(0));
}

// `segment` has its checksum there.
ChecksumFinding find_in(const Ends& ends, ByteView segment, std::size_t checksum_at) noexcept {
    const auto size = static_cast<std::uint16_t>(segment.size());
    InternetChecksum sum = ends.pseudo_header(size);
    sum.add(segment);
    if (sum.is_right()) {
        return ChecksumFinding::Right;
    }
    return is_unfinished(ends, size, load_be16(segment, checksum_at)) ? ChecksumFinding::Unfinished
                                                                      : ChecksumFinding::Wrong;
}

ChecksumFinding find_in_datagram(const PacketHeaders& headers, ByteView frame) noexcept {
    const std::size_t at = headers.l4_at;
    const std::size_t size = load_be16(frame, at + kUdpLengthAt);
    return size <= frame.size() - at ? find_udp_checksum(headers.ip_version, headers.src,
                                                         headers.dst, frame.subspan(at, size))
                                     : ChecksumFinding::Unknown;
}

// The sum covers the first source and the last destination, which a routing header or an option
// (RFC 6275, 6.3) may keep elsewhere. Those that every host takes keep none.
bool may_keep_ends(const PacketHeaders& headers, const FrameView& frame) noexcept {
    return headers.ip_version == IpVersion::V6 && headers.l4_at > headers.l3_at + kIpv6Size &&
           !is_taken_by_hosts(headers, frame.bytes);
}

ChecksumFinding find_in_segment(const PacketHeaders& headers, ByteView frame) noexcept {
    const std::size_t header = std::size_t{headers.payload_at} - headers.l4_at;
    const std::size_t size = header + headers.payload_len;
    // A packet larger than an IP length can say was put together, or is to be cut up, by an
    // adapter.
    const std::size_t packet = std::size_t{headers.l4_at} - headers.l3_at + size;
    if (headers.l4_at + size > frame.size() || packet > kLongestPacket) {
        return ChecksumFinding::Unknown;
    }
    if (headers.ip_len != packet) {
        return ChecksumFinding::Wrong;
    }
    const Ends ends{headers.ip_version, headers.src, headers.dst, kProtoTcp};
    return find_in(ends, frame.subspan(headers.l4_at, size), kTcpChecksumAt);
}

}  // namespace

bool has_wrong_ip_checksum(const PacketHeaders& headers, const FrameView& frame) noexcept {
    if (headers.ip_version != IpVersion::V4 || headers.l3_at + kIpv4MinSize > frame.bytes.size()) {
        return false;
    }
    const std::size_t size = (load_u8(frame.bytes, headers.l3_at) & 0xFU) * 4U;
    if (headers.l3_at + size > frame.bytes.size()) {
        return false;
    }
    InternetChecksum sum;
    sum.add(frame.bytes.subspan(headers.l3_at, size));
    return !sum.is_right();
}

ChecksumFinding find_udp_checksum(IpVersion version, const IpAddress& src, const IpAddress& dst,
                                  ByteView datagram) noexcept {
    if (datagram.size() < kUdpSize || load_be16(datagram, kUdpLengthAt) != datagram.size()) {
        return ChecksumFinding::Unknown;
    }
    if (load_be16(datagram, kUdpChecksumAt) == 0) {
        return version == IpVersion::V6 ? ChecksumFinding::Wrong : ChecksumFinding::Unknown;
    }
    return find_in({version, src, dst, kProtoUdp}, datagram, kUdpChecksumAt);
}

ChecksumFinding find_checksums(const PacketHeaders& headers, const FrameView& frame) noexcept {
    const bool is_known = headers.proto == kProtoTcp || headers.proto == kProtoUdp;
    if (headers.parsed != Parsed::Ok || !is_known || headers.payload_at <= headers.l4_at ||
        headers.l4_at <= headers.l3_at || headers.payload_at > frame.bytes.size()) {
        return ChecksumFinding::Unknown;
    }
    if (ip_is_wrong(headers, frame.bytes)) {
        return ChecksumFinding::Wrong;
    }
    const ChecksumFinding finding = headers.proto == kProtoTcp
                                        ? find_in_segment(headers, frame.bytes)
                                        : find_in_datagram(headers, frame.bytes);
    return finding == ChecksumFinding::Wrong && may_keep_ends(headers, frame)
               ? ChecksumFinding::Unknown
               : finding;
}

}  // namespace sluice
