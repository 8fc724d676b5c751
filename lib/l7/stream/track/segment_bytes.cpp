#include "lib/l7/stream/track/segment_bytes.hpp"

#include "lib/base/check.hpp"
#include "lib/l7/stream/track/tcp_options.hpp"
#include "lib/packet/internet_checksum.hpp"
#include "lib/packet/ip_options.hpp"
#include "lib/packet/ipv4.hpp"
#include "lib/packet/tcp_flags.hpp"
#include "lib/packet/transport.hpp"

#include <algorithm>

namespace sluice {
namespace {

// Places in TCP's header, and in those of IP.
constexpr std::size_t kSeqAt = 4;
constexpr std::size_t kAckAt = 8;
constexpr std::size_t kFlagsAt = 12;  // with the header's length
constexpr std::size_t kWindowAt = 14;
constexpr std::size_t kSumAt = 16;
constexpr std::size_t kUrgentAt = 18;
constexpr std::size_t kIpv4TtlAt = 8;
constexpr std::size_t kIpv6HopsAt = 7;

// Options of IPv4, and extension headers of IPv6, stand between the fixed header and TCP's.
bool has_ip_options(const PacketHeaders& headers) noexcept {
    constexpr std::size_t kIpv6Size = 40;
    const std::size_t fixed =
        headers.ip_version == IpVersion::V6 ? kIpv6Size : std::size_t{kIpv4MinSize};
    return headers.l4_at != headers.l3_at + fixed;
}

// Writes a word and what becomes of the sum over it.
void replace_word(MutableBytes frame, std::size_t at, std::uint16_t word,
                  std::size_t sum_at) noexcept {
    store_be16(frame, sum_at,
               updated_checksum(load_be16(frame, sum_at), load_be16(frame, at), word));
    store_be16(frame, at, word);
}

constexpr std::uint8_t kTcpNoOperation = 1;
constexpr std::uint8_t kVoid = 'x';

constexpr bool stays_in_voided(std::uint8_t byte) noexcept {
    return byte == '\r' || byte == '\n' || byte == ' ' || byte == '\t' || byte == ':';
}

// The position of a TCP segment in its frame.
struct SegmentPlace {
    std::size_t begin;
    std::size_t end;
};

// Writes a byte of a segment, and what becomes of its checksum. The last byte of an odd number is a
// word with a zero behind it (RFC 9293, 3.1).
void replace_byte(MutableBytes frame, std::size_t at, SegmentPlace segment,
                  std::uint8_t byte) noexcept {
    const std::size_t word_at = at - (at - segment.begin) % 2;
    const auto word = [&] {
        const unsigned second = word_at + 1 < segment.end ? load_u8(frame, word_at + 1) : 0U;
        return static_cast<std::uint16_t>(load_u8(frame, word_at) << 8 | second);
    };
    const std::uint16_t before = word();
    frame[at] = static_cast<std::byte>(byte);
    const std::size_t sum_at = segment.begin + kSumAt;
    store_be16(frame, sum_at, updated_checksum(load_be16(frame, sum_at), before, word()));
}

// The options of a TCP header that is all at hand; none of another.
ByteView options_of(const PacketHeaders& headers, ByteView frame) noexcept {
    const std::size_t begin = std::size_t{headers.l4_at} + kTcpMinSize;
    const std::size_t end = headers.payload_at;
    return begin < end && end <= frame.size() ? frame.subspan(begin, end - begin) : ByteView{};
}

// `options`: of TCP.
inline bool may_be_dropped_for(ByteView options, const PacketHeaders& headers,
                               ByteView frame) noexcept {
    return !are_taken_with_bytes(options) ||
           (has_ip_options(headers) && headers.frag == Fragment::None &&
            !is_taken_by_hosts(headers, frame));
}

}  // namespace

[[gnu::cold]] bool may_be_dropped_for_options(const PacketHeaders& headers,
                                              ByteView frame) noexcept {
    return may_be_dropped_for(options_of(headers, frame), headers, frame);
}

std::optional<TrackedSegment> read_tracked_segment(const PacketHeaders& headers,
                                                   ByteView frame) noexcept {
    const bool has_header = headers.proto == kProtoTcp && headers.payload_at > headers.l4_at &&
                            headers.payload_at <= frame.size() &&
                            headers.fields.has(Field::TcpFlags);
    if (!has_header) {
        return std::nullopt;
    }
    const ByteView tcp =
        frame.subspan(headers.l4_at, std::size_t{headers.payload_at} - headers.l4_at);
    TrackedSegment segment{.seq = load_be32(tcp, kSeqAt),
                           .ack = load_be32(tcp, kAckAt),
                           .flags = headers.tcp_flags,
                           .payload = headers.payload_len,
                           .window = load_be16(tcp, kWindowAt),
                           .urgent = load_be16(tcp, kUrgentAt),
                           .ttl = headers.ttl,
                           .is_fragment = headers.frag != Fragment::None};
    const ByteView options = tcp.subspan(kTcpMinSize);
    if (segment.has(kTcpSyn)) [[unlikely]] {
        segment.scale = window_scale_in(options);
    }
    if (segment.has(kTcpRst)) [[unlikely]] {
        segment.has_doubtful_options = has_ip_options(headers) || !are_harmless_with_reset(options);
    }
    if (!options.empty()) {
        segment.timestamps = timestamps_in(options);
        segment.has_unknown_options = have_unknown_kind(options);
    }
    // An ACK completes a handshake or says what has arrived, so it counts as bytes do.
    segment.has_doubtful_options =
        segment.has_doubtful_options || may_be_dropped_for(options, headers, frame);
    return segment;
}

void clear_urgent(const PacketHeaders& headers, MutableBytes frame) noexcept {
    const std::size_t tcp = headers.l4_at;
    const std::uint16_t flags = load_be16(frame, tcp + kFlagsAt);
    replace_word(frame, tcp + kFlagsAt, static_cast<std::uint16_t>(flags & ~kTcpUrg), tcp + kSumAt);
    replace_word(frame, tcp + kUrgentAt, 0, tcp + kSumAt);
}

void clear_options(const PacketHeaders& headers, MutableBytes frame) noexcept {
    const std::size_t begin = std::size_t{headers.l4_at} + kTcpMinSize;
    if (headers.payload_at < begin || headers.payload_at > frame.size()) {
        return;
    }
    const std::size_t end =
        std::min(std::size_t{headers.payload_at} + headers.payload_len, frame.size());
    const MutableBytes options = frame.subspan(begin, headers.payload_at - begin);
    std::size_t from = 0;
    while (const std::optional<OptionPlace> place = next_of_unknown_kind(options, from)) {
        for (std::size_t at = place->at; at < place->at + place->size; ++at) {
            replace_byte(frame, begin + at, {headers.l4_at, end}, kTcpNoOperation);
        }
        from = place->at + place->size;
    }
}

// The IP packet ends behind its TCP header: what follows is the frame's padding.
static void set_length(const PacketHeaders& headers, std::size_t tcp_end,
                       MutableBytes frame) noexcept {
    constexpr std::size_t kIpv6Header = 40;
    constexpr std::size_t kIpv4LengthAt = 2;
    constexpr std::size_t kIpv6LengthAt = 4;
    const std::size_t ip = headers.l3_at;
    if (headers.ip_version == IpVersion::V6) {
        store_be16(frame, ip + kIpv6LengthAt,
                   static_cast<std::uint16_t>(tcp_end - ip - kIpv6Header));
    } else {
        replace_word(frame, ip + kIpv4LengthAt, static_cast<std::uint16_t>(tcp_end - ip),
                     ip + kIpv4ChecksumAt);
    }
}

void make_probe(const PacketHeaders& headers, MutableBytes frame) noexcept {
    constexpr std::uint16_t kBack = (std::uint32_t{1} << 30) >> 16;
    constexpr std::uint16_t kOfBytes = kTcpFin | kTcpPsh | kTcpUrg;
    const std::size_t tcp = headers.l4_at;
    const std::uint16_t flags = load_be16(frame, tcp + kFlagsAt);
    const std::size_t size = static_cast<std::size_t>(flags >> 12) * 4;
    SLUICE_CHECK(tcp + size <= frame.size());
    const std::uint16_t high = load_be16(frame, tcp + kSeqAt);
    store_be16(frame, tcp + kSeqAt, static_cast<std::uint16_t>(high - kBack));
    store_be16(frame, tcp + kFlagsAt, static_cast<std::uint16_t>(flags & ~kOfBytes));
    store_be16(frame, tcp + kUrgentAt, 0);
    store_be16(frame, tcp + kSumAt, 0);
    set_length(headers, tcp + size, frame);
    InternetChecksum sum;
    sum.add_pseudo_header(headers.ip_version, headers.src, headers.dst, kProtoTcp,
                          static_cast<std::uint16_t>(size));
    sum.add(ByteView{frame}.subspan(tcp, size));
    store_be16(frame, tcp + kSumAt, sum.value());
}

void void_line(const PacketHeaders& headers, PayloadRange line, MutableBytes frame) noexcept {
    const std::size_t begin = std::size_t{headers.payload_at} + line.begin;
    const std::size_t end = std::min(std::size_t{headers.payload_at} + line.end, frame.size());
    const std::size_t segment_end =
        std::min(std::size_t{headers.payload_at} + headers.payload_len, frame.size());
    for (std::size_t at = begin; at < end; ++at) {
        if (!stays_in_voided(load_u8(frame, at))) {
            replace_byte(frame, at, {headers.l4_at, segment_end}, kVoid);
        }
    }
}

void set_ttl(const PacketHeaders& headers, std::uint8_t ttl, MutableBytes frame) noexcept {
    if (headers.ip_version == IpVersion::V6) {
        frame[headers.l3_at + kIpv6HopsAt] = static_cast<std::byte>(ttl);
        return;
    }
    const std::size_t at = headers.l3_at + kIpv4TtlAt;
    const auto word = static_cast<std::uint16_t>(ttl << 8 | (load_be16(frame, at) & 0xFF));
    replace_word(frame, at, word, headers.l3_at + kIpv4ChecksumAt);
}

}  // namespace sluice
