#include "lib/packet/parse_columns.hpp"

#include "lib/packet/byte_units.hpp"
#include "lib/packet/eight_words.hpp"
#include "lib/packet/ethernet.hpp"
#include "lib/packet/frame_group.hpp"
#include "lib/packet/ipv4.hpp"
#include "lib/packet/ipv6.hpp"
#include "lib/packet/row_bytes.hpp"
#include "lib/packet/transport.hpp"

#include <bit>
#include <cstring>

#include <immintrin.h>

namespace sluice {
namespace {

using namespace eight_words;

// Offsets from where the Ethernet header would begin if there were no tag.
constexpr std::size_t kTypeAt = 12;
constexpr std::size_t kV4AddressesAt = kEthernetSize + kIpv4SrcAt;
constexpr std::size_t kV6TailAt = kEthernetSize + kIpv6DstAt + 8;  // 8 bytes of it, then ports
constexpr std::uint32_t kLeastV4 = kIpv4MinSize + kUdpSize;
constexpr std::uint32_t kLeastV6 = kIpv6Size + kUdpSize;
constexpr std::uint32_t kShortestFrame = kEthernetSize + kLeastV4;
constexpr std::uint32_t kLongestFrame = 0xFFFF;  // offsets are 16 bits
constexpr std::uint32_t kTcpOffsetAt = 12;

}  // namespace

// Fills the columns of one burst.
class ColumnParser {
public:
    ColumnParser(const FrameColumns& frames, const ParseOptions& options,
                 HeaderColumns& columns) noexcept
        : frames_{frames},
          options_{options},
          may_tunnel_{options.tunnels.any_over_udp()},
          columns_{columns} {}

    void run() noexcept {
        columns_.frames_ = &frames_;
        columns_.made_ = 0;
        columns_.common = columns_.not_ip = columns_.bad_ipv4 = tcp_ = tagged_ = v6_ =
            with_length_ = 0;
        for (std::size_t first = 0; first < frames_.size; first += kGroup) {
            parse_group(first);
        }
        columns_.frag.fill(Fragment::None);
        note_parsed();
        set_presence();
        const RowMask done = columns_.common | columns_.not_ip | columns_.bad_ipv4;
        for_each_row(frames_.rows() & ~done, [&](std::size_t row) { walk_odd(row); });
    }

private:
    void parse_group(std::size_t first) noexcept;
    void begin(std::size_t first, Group& group) const noexcept;
    void step_over_tags(std::size_t first, Group& group) noexcept;
    void find_not_ip(std::size_t first, const Group& group) noexcept;
    void find_bad_ipv4(std::size_t first, Group& group, Words is_ipv4) noexcept;
    static void parse_v4(Group& group, FourWords& addresses) noexcept;
    static void parse_v6(Group& group) noexcept;
    void parse_udp(Group& group) const noexcept;
    static void parse_tcp(Group& group) noexcept;
    void store_group(std::size_t first, const Group& group) noexcept;
    void copy_v6_addresses(std::size_t first, const Group& group) noexcept;

    void note_parsed() noexcept;
    void set_presence() noexcept;
    void walk_odd(std::size_t row) noexcept;
    void scatter(std::size_t row, const PacketHeaders& headers) noexcept;

    const FrameColumns& frames_;
    const ParseOptions& options_;
    const bool may_tunnel_;  // in UDP
    HeaderColumns& columns_;
    RowMask tcp_ = 0;
    RowMask tagged_ = 0;
    RowMask v6_ = 0;
    RowMask with_length_ = 0;  // of those that are not IP: in the place of an EtherType
};

void ColumnParser::begin(std::size_t first, Group& group) const noexcept {
    const auto load = [&](const auto& column) {
        return _mm256_load_si256(reinterpret_cast<const __m256i*>(&column[first]));
    };
    const Words number = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const Words in_use =
        _mm256_cmpgt_epi32(all(frames_.size - static_cast<std::uint32_t>(first)), number);
    group.length = load(frames_.length);
    // A frame that is not all at hand is left to the walk.
    group.fits = both(both(in_use, at_most(load(frames_.wire), group.length)),
                      in_range(group.length, all(kShortestFrame), all(kLongestFrame)));
    std::memcpy(group.starts.data(), &frames_.at[first], sizeof(group.starts));
    group.starts = chosen(group.starts, mask_of(group.fits));
    group.l3_at = all(kEthernetSize);
    group.head = transpose(group.starts, kTypeAt);
    group.after_type = from_big_endian(group.head.word[0]);
}

// At most one tag; a frame with more is left to the walk.
void ColumnParser::step_over_tags(std::size_t first, Group& group) noexcept {
    group.is_tagged = both(
        is_vlan(_mm256_srli_epi32(group.after_type, 16)),
        both(group.fits, _mm256_cmpgt_epi32(group.length, all(kShortestFrame + kVlanTagSize - 1))));
    if (!any(group.is_tagged)) [[likely]] {
        return;
    }
    store(&columns_.vlan_id[first], both(group.after_type, all(0xFFF)));
    const std::uint32_t tagged = mask_of(group.is_tagged);
    for (std::size_t i = 0; i < kGroup; ++i) {
        group.starts[i] += (tagged >> i & 1) * kVlanTagSize;
    }
    group.l3_at = _mm256_add_epi32(group.l3_at, both(group.is_tagged, all(kVlanTagSize)));
    group.head = transpose(group.starts, kTypeAt);
    group.after_type = from_big_endian(group.head.word[0]);
}

// Frames of an EtherType that leads to no IP packet: neither IP, nor MPLS, nor PPPoE, nor one more
// tag or metadata. What is a length (IEEE 802.3) leads to none either.
void ColumnParser::find_not_ip(std::size_t first, const Group& group) noexcept {
    const Words type = _mm256_srli_epi32(group.after_type, 16);
    Words leads_on = is_vlan(type);
    for (const std::uint16_t other : {kTypeIpv4, kTypeIpv6, kTypeMplsUnicast, kTypeMplsMulticast,
                                      kTypePppoeSession, kTypeCiscoMetadata}) {
        leads_on = either(leads_on, is_equal(type, all(other)));
    }
    const Words is_not_ip = _mm256_andnot_si256(leads_on, group.fits);
    columns_.not_ip |= mask_of(is_not_ip) << first;
    with_length_ |= mask_of(_mm256_cmpgt_epi32(all(kSmallestEtherType), type)) << first;
    tagged_ |= mask_of(both(is_not_ip, group.is_tagged)) << first;
    store(&columns_.byte_units[first], behind_link(group));
}

// RFC 791, 3.1: the version is not 4, IHL is below 5, or Total Length is less than the header has;
// a Total Length of 0 is segmentation offload's and sound. These rows fit no longer.
void ColumnParser::find_bad_ipv4(std::size_t first, Group& group, Words is_ipv4) noexcept {
    const Words version = both(_mm256_srli_epi32(group.after_type, 12), all(0xF));
    const Words size = both(_mm256_srli_epi32(group.after_type, 6), all(0x3C));
    const Words claimed = _mm256_srli_epi32(from_big_endian(group.head.word[1]), 16);
    const Words claims_less = _mm256_cmpgt_epi32(size, claimed);
    const Words is_bad =
        either(either(differs(version, all(4)), _mm256_cmpgt_epi32(all(kIpv4MinSize), size)),
               both(claims_less, differs(claimed, _mm256_setzero_si256())));
    const Words is_bad_ipv4 = both(is_ipv4, is_bad);
    columns_.bad_ipv4 |= mask_of(is_bad_ipv4) << first;
    tagged_ |= mask_of(both(is_bad_ipv4, group.is_tagged)) << first;
    store(&columns_.byte_units[first], behind_link(group));
    group.fits = _mm256_andnot_si256(is_bad_ipv4, group.fits);
}

// Without options and no fragment; what is no such IPv4 header fits no longer.
void ColumnParser::parse_v4(Group& group, FourWords& addresses) noexcept {
    constexpr std::uint32_t kNoOptions = std::uint32_t{kTypeIpv4} << 8 | 0x45;
    constexpr std::uint32_t kIsFragment = 0x3FFF'0000;  // more to come, or an offset
    addresses = transpose(group.starts, kV4AddressesAt);
    const Words fragment = from_big_endian(group.head.word[2]);  // and TTL and protocol
    group.claimed = _mm256_srli_epi32(from_big_endian(group.head.word[1]), 16);
    group.fits =
        both(both(group.fits, is_equal(_mm256_srli_epi32(group.after_type, 8), all(kNoOptions))),
             both(is_equal(both(fragment, all(kIsFragment)), _mm256_setzero_si256()),
                  in_range(group.claimed, all(kLeastV4), behind_link(group))));
    group.is_v6 = _mm256_setzero_si256();
    group.ip_size = all(kIpv4MinSize);
    group.proto = both(fragment, all(0xFF));
    group.ttl = both(_mm256_srli_epi32(fragment, 8), all(0xFF));
    group.dscp = _mm256_srli_epi32(both(group.after_type, all(0xFF)), 2);
    group.ports = from_big_endian(addresses.word[2]);
    group.udp_length = _mm256_srli_epi32(from_big_endian(addresses.word[3]), 16);
}

// Rows that are IPv6 without extension headers take the place of what parse_v4() made of them.
void ColumnParser::parse_v6(Group& group) noexcept {
    const Words lengths = from_big_endian(group.head.word[1]);  // flow label, payload length
    const Words next = from_big_endian(group.head.word[2]);     // next header, hop limit, address
    const Words payload = both(lengths, all(0xFFFF));
    const FourWords tail = transpose(chosen(group.starts, mask_of(group.is_v6)), kV6TailAt);
    const Words room = _mm256_sub_epi32(behind_link(group), all(kIpv6Size));
    const Words is_v6 = both(group.is_v6, in_range(payload, all(kUdpSize), room));
    const auto replace = [&](Words& old, Words words) { old = choose(is_v6, words, old); };
    group.fits = either(group.fits, is_v6);
    group.is_v6 = is_v6;
    replace(group.claimed, _mm256_add_epi32(payload, all(kIpv6Size)));
    replace(group.ip_size, all(kIpv6Size));
    replace(group.proto, _mm256_srli_epi32(next, 24));
    replace(group.ttl, both(_mm256_srli_epi32(next, 16), all(0xFF)));
    replace(group.dscp, both(_mm256_srli_epi32(group.after_type, 6), all(0x3F)));
    replace(group.ports, from_big_endian(tail.word[2]));
    replace(group.udp_length, _mm256_srli_epi32(from_big_endian(tail.word[3]), 16));
}

// UDP rows alone still fit.
void ColumnParser::parse_udp(Group& group) const noexcept {
    const Words room = _mm256_sub_epi32(group.claimed, group.ip_size);
    Words is_udp = both(is_equal(group.proto, all(kProtoUdp)),
                        in_range(group.udp_length, all(kUdpSize), room));
    if (may_tunnel_) [[unlikely]] {
        const Words to = both(group.ports, all(0xFFFF));
        options_.tunnels.each_port([&](std::uint16_t port, UdpTunnel) {
            is_udp = _mm256_andnot_si256(is_equal(to, all(port)), is_udp);
        });
    }
    group.is_tcp = both(both(group.fits, is_equal(group.proto, all(kProtoTcp))),
                        at_most(all(kTcpMinSize), room));
    group.fits = both(group.fits, is_udp);
    group.l4_size = all(kUdpSize);
    group.payload_len = _mm256_sub_epi32(group.udp_length, all(kUdpSize));
    group.tcp_flags = _mm256_setzero_si256();
}

// TCP rows fit too.
void ColumnParser::parse_tcp(Group& group) noexcept {
    const Starts starts = chosen(group.starts, mask_of(group.is_tcp));
    const std::uint32_t v6 = mask_of(group.is_v6);
    alignas(32) std::array<std::uint32_t, kGroup> words;
    for (std::size_t i = 0; i < kGroup; ++i) {
        const std::size_t ip_size = (v6 >> i & 1) != 0 ? kIpv6Size : kIpv4MinSize;
        words[i] = load_be<std::uint16_t>(starts[i] + kEthernetSize + ip_size + kTcpOffsetAt);
    }
    const Words offset_and_flags = _mm256_load_si256(reinterpret_cast<const __m256i*>(&words));
    const Words size = _mm256_slli_epi32(_mm256_srli_epi32(offset_and_flags, 12), 2);
    const Words room = _mm256_sub_epi32(group.claimed, group.ip_size);
    group.is_tcp = both(group.is_tcp, in_range(size, all(kTcpMinSize), room));
    group.fits = either(group.fits, group.is_tcp);
    group.l4_size = choose(group.is_tcp, size, group.l4_size);
    group.payload_len = choose(group.is_tcp, _mm256_sub_epi32(room, size), group.payload_len);
    group.tcp_flags = both(group.is_tcp, both(offset_and_flags, all(0xFFF)));
}

void ColumnParser::store_group(std::size_t first, const Group& group) noexcept {
    const Words there = behind_link(group);
    const Words padded = at_most(group.length, all(kLargestPaddedFrame));
    store(&columns_.ip_len[first], group.claimed);
    store(&columns_.payload_len[first], group.payload_len);
    // The same as byte_units() of a sound packet.
    store(&columns_.byte_units[first], choose(both(padded, group.fits), group.claimed, there));
    store(&columns_.sport[first], _mm256_srli_epi32(group.ports, 16));
    store(&columns_.dport[first], both(group.ports, all(0xFFFF)));
    store(&columns_.tcp_flags[first], group.tcp_flags);
    store(&columns_.payload_at[first],
          both(_mm256_add_epi32(_mm256_add_epi32(group.l3_at, group.ip_size), group.l4_size),
               all(0xFFFF)));
    store(&columns_.proto[first], group.proto);
    store(&columns_.ttl[first], group.ttl);
    store(&columns_.dscp[first], group.dscp);
    const Words version = choose(group.is_v6, all(static_cast<std::uint32_t>(IpVersion::V6)),
                                 all(static_cast<std::uint32_t>(IpVersion::V4)));
    store(reinterpret_cast<std::uint8_t*>(&columns_.ip_version[first]), version);
    columns_.common |= mask_of(group.fits) << first;
    tcp_ |= mask_of(group.is_tcp) << first;
    v6_ |= mask_of(group.is_v6) << first;
    tagged_ |= mask_of(group.is_tagged) << first;
}

void ColumnParser::copy_v6_addresses(std::size_t first, const Group& group) noexcept {
    for_each_row(mask_of(both(group.fits, group.is_v6)), [&](std::size_t i) {
        const std::byte* const header = group.starts[i] + kEthernetSize;
        std::memcpy(&columns_.src6[first + i], header + kIpv6SrcAt, sizeof(IpAddress));
        std::memcpy(&columns_.dst6[first + i], header + kIpv6DstAt, sizeof(IpAddress));
    });
}

void ColumnParser::parse_group(std::size_t first) noexcept {
    constexpr std::uint32_t kVersion6 = std::uint32_t{kTypeIpv6} << 4 | 6;
    Group group;
    begin(first, group);
    step_over_tags(first, group);
    const Words may_be_v6 =
        both(both(group.fits, is_equal(_mm256_srli_epi32(group.after_type, 12), all(kVersion6))),
             at_most(all(kLeastV6), behind_link(group)));
    const Words may_be_v4 =
        both(group.fits, is_equal(_mm256_srli_epi32(group.after_type, 16), all(kTypeIpv4)));
    const Words may_be_ip = either(may_be_v4, may_be_v6);
    if (any(_mm256_andnot_si256(may_be_ip, group.fits))) {
        find_not_ip(first, group);
    }
    if (any(may_be_v4)) {
        find_bad_ipv4(first, group, may_be_v4);
    }
    if (!any(both(may_be_ip, group.fits))) {
        return;
    }
    FourWords addresses;
    parse_v4(group, addresses);
    store(&columns_.src[first], addresses.word[0]);
    store(&columns_.dst[first], addresses.word[1]);
    store(&columns_.src_host[first], from_big_endian(addresses.word[0]));
    store(&columns_.dst_host[first], from_big_endian(addresses.word[1]));
    const bool any_v6 = any(may_be_v6);
    if (any_v6) {
        group.is_v6 = may_be_v6;
        parse_v6(group);
    }
    parse_udp(group);
    if (any(group.is_tcp)) {
        parse_tcp(group);
    }
    if (any_v6) {
        copy_v6_addresses(first, group);
    }
    store_group(first, group);
}

// Notes the outcome of rows that went eight at a time.
void ColumnParser::note_parsed() noexcept {
    static_assert(sizeof(Parsed) == 1 && Parsed::Ok == Parsed{0});
    const auto where = [](RowMask rows, Parsed parsed) {
        return _mm256_and_si256(bytes_of_rows(rows), _mm256_set1_epi8(static_cast<char>(parsed)));
    };
    _mm256_store_si256(reinterpret_cast<__m256i*>(columns_.parsed.data()),
                       _mm256_or_si256(where(columns_.not_ip, Parsed::NotIp),
                                       where(columns_.bad_ipv4, Parsed::BadIpHeader)));
}

// Sets the parts that rows have which went eight at a time.
void ColumnParser::set_presence() noexcept {
    const RowMask rows = frames_.rows();
    const RowMask common = columns_.common;
    const RowMask flat = common | columns_.not_ip | columns_.bad_ipv4;
    const RowMask with_type = flat & ~(columns_.not_ip & with_length_);
    columns_.v6 = v6_ & common;
    columns_.malformed = columns_.bad_ipv4;
    columns_.present.fill(0);
    const auto set = [&](HeaderPart part, RowMask mask) { columns_.add_present(part, mask); };
    for (const HeaderPart part : kCommonParts) {
        set(part, common);
    }
    set(HeaderPart::Frame, rows);
    set(HeaderPart::Port, rows & columns_.named_ports_);
    set(HeaderPart::Ethernet, flat);
    set(HeaderPart::EtherType, with_type);
    set(HeaderPart::Vlan, flat & tagged_);
    set(HeaderPart::Tcp, common & tcp_);
}

void ColumnParser::walk_odd(std::size_t row) noexcept {
    PacketHeaders& headers = columns_.made_headers_[row];
    columns_.made_ |= row_bit(row);
    headers.dir = columns_.dir[row];
    headers.port = columns_.port[row];
    if (parse_frame(frames_.frame(row), options_.tunnels, headers) == Parsed::Cut &&
        !options_.captured) {
        headers.parsed = Parsed::TooDeep;
    }
    if (is_malformed(headers.parsed)) {
        columns_.malformed |= row_bit(row);
    }
    scatter(row, headers);
}

void ColumnParser::scatter(std::size_t row, const PacketHeaders& headers) noexcept {
    constexpr std::uint64_t kParts = [] {
        std::uint64_t bits = 0;
        for (const Field field : kPartFields) {
            bits |= std::uint64_t{1} << static_cast<unsigned>(field);
        }
        return bits;
    }();
    std::uint64_t parts = _pext_u64(std::bit_cast<std::uint64_t>(headers.fields), kParts);
    for (; parts != 0; parts &= parts - 1) {
        columns_.present[static_cast<std::size_t>(std::countr_zero(parts))] |= row_bit(row);
    }
    columns_.parsed[row] = headers.parsed;
    columns_.byte_units[row] = headers.byte_units;
    columns_.vlan_id[row] = headers.vlan_id;
    if (!headers.fields.has(Field::IpSrc)) {
        return;  // no column counts but those above
    }
    columns_.v6 |= headers.ip_version == IpVersion::V6 ? row_bit(row) : 0;
    columns_.src6[row] = headers.src;
    columns_.dst6[row] = headers.dst;
    std::memcpy(&columns_.src[row], &headers.src, sizeof(columns_.src[row]));
    std::memcpy(&columns_.dst[row], &headers.dst, sizeof(columns_.dst[row]));
    columns_.src_host[row] = __builtin_bswap32(columns_.src[row]);
    columns_.dst_host[row] = __builtin_bswap32(columns_.dst[row]);
    columns_.ip_len[row] = headers.ip_len;
    columns_.payload_len[row] = headers.payload_len;
    columns_.sport[row] = headers.sport;
    columns_.dport[row] = headers.dport;
    columns_.tcp_flags[row] = headers.tcp_flags;
    columns_.payload_at[row] = headers.payload_at;
    columns_.proto[row] = headers.proto;
    columns_.ttl[row] = headers.ttl;
    columns_.dscp[row] = headers.dscp;
    columns_.frag[row] = headers.frag;
    columns_.ip_version[row] = headers.ip_version;
}

void parse_columns(const FrameColumns& frames, const ParseOptions& options,
                   HeaderColumns& columns) noexcept {
    ColumnParser{frames, options, columns}.run();
}

}  // namespace sluice
