#include "lib/conn/track/checksum_check.hpp"

#include "lib/packet/internet_checksum.hpp"
#include "lib/packet/ipv6.hpp"
#include "lib/packet/transport.hpp"

namespace sluice {
namespace {

constexpr std::size_t kTcpChecksumAt = 16;
constexpr std::size_t kLongestPacket = 0xFFFF;

// A checksum of a header or segment that contains it is zero where it is right.
bool is_right(const InternetChecksum& sum) noexcept {
    return sum.value() == 0;
}

bool ip_is_wrong(const PacketHeaders& headers, ByteView bytes) noexcept {
    if (headers.ip_version != IpVersion::V4) {
        return false;
    }
    InternetChecksum sum;
    sum.add(bytes.subspan(headers.l3_at, std::size_t{headers.l4_at} - headers.l3_at));
    return !is_right(sum);
}

InternetChecksum pseudo_header(const PacketHeaders& headers, std::uint16_t size) noexcept {
    InternetChecksum sum;
    sum.add_pseudo_header(headers.ip_version, headers.src, headers.dst, kProtoTcp, size);
    return sum;
}

// Adapters that cut segments up add the length of each.
bool is_unfinished(const PacketHeaders& headers, std::uint16_t size, std::uint16_t field) noexcept {
    const auto folded = [](const InternetChecksum& sum) {
        return static_cast<std::uint16_t>(~sum.value());
    };
    return field == folded(pseudo_header(headers, size)) ||
           field == folded(pseudo_header(headers, 0));
}

}  // namespace

ChecksumFinding find_checksums(const PacketHeaders& headers, const FrameView& frame) noexcept {
    const std::size_t header = std::size_t{headers.payload_at} - headers.l4_at;
    const std::size_t size = header + headers.payload_len;
    const bool is_tcp = headers.parsed == Parsed::Ok && headers.proto == kProtoTcp &&
                        headers.payload_at > headers.l4_at && headers.l4_at > headers.l3_at;
    if (!is_tcp || headers.l4_at + size > frame.bytes.size()) {
        return ChecksumFinding::Unknown;
    }
    if (ip_is_wrong(headers, frame.bytes)) {
        return ChecksumFinding::Wrong;
    }
    // A packet larger than an IP length can say was put together, or is to be cut up, by an
    // adapter.
    const std::size_t packet = std::size_t{headers.l4_at} - headers.l3_at + size;
    if (packet > kLongestPacket) {
        return ChecksumFinding::Unknown;
    }
    if (headers.ip_len != packet) {
        return ChecksumFinding::Wrong;
    }
    const std::uint16_t field = load_be16(frame.bytes, headers.l4_at + kTcpChecksumAt);
    const auto short_size = static_cast<std::uint16_t>(size);
    InternetChecksum sum = pseudo_header(headers, short_size);
    sum.add(frame.bytes.subspan(headers.l4_at, size));
    if (is_right(sum)) {
        return ChecksumFinding::Right;
    }
    if (is_unfinished(headers, short_size, field)) {
        return ChecksumFinding::Unfinished;
    }
    // The sum covers the last destination, which a routing header may keep elsewhere.
    const bool has_extensions =
        headers.ip_version == IpVersion::V6 && headers.l4_at > headers.l3_at + kIpv6Size;
    return has_extensions ? ChecksumFinding::Unknown : ChecksumFinding::Wrong;
}

}  // namespace sluice
