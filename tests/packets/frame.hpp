#pragma once
#include "lib/packet/ip_address.hpp"
#include "lib/packet/packet_headers.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::test {

using Octets = std::vector<std::byte>;

inline void put8(Octets& out, unsigned value) {
    out.push_back(static_cast<std::byte>(value));
}
inline void put16(Octets& out, unsigned value) {
    put8(out, value >> 8);
    put8(out, value & 0xFF);
}
inline void put32(Octets& out, std::uint32_t value) {
    put16(out, value >> 16);
    put16(out, value & 0xFFFF);
}
inline void put(Octets& out, const Octets& more) {
    out.insert(out.end(), more.begin(), more.end());
}

// Internet checksum, RFC 1071, the slow way.
inline std::uint16_t checksum_of(const Octets& bytes, std::size_t at, std::size_t size) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < size; i += 2) {
        sum += static_cast<std::uint32_t>(std::to_integer<unsigned>(bytes.at(at + i)) << 8);
        sum += i + 1 < size ? std::to_integer<unsigned>(bytes.at(at + i + 1)) : 0U;
    }
    while (sum > 0xFFFF) {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return static_cast<std::uint16_t>(~sum);
}

// Reads like the packet it builds: udp().src("10.0.0.1").dport(53).size(100). Lengths and the IPv4
// checksum are right unless a call says otherwise. TCP and UDP checksums are left zero: nothing
// here looks at them.
class Frame {
public:
    explicit Frame(std::uint8_t proto) : proto_{proto} {}

    Frame& src(std::string_view text) { return address(src_, text); }
    Frame& dst(std::string_view text) { return address(dst_, text); }
    Frame& sport(std::uint16_t port) { return set(sport_, port); }
    Frame& dport(std::uint16_t port) { return set(dport_, port); }
    Frame& flags(std::uint16_t bits) { return set(flags_, bits); }
    // Of the first byte, a SYN's own number where it is one.
    Frame& seq(std::uint32_t number) { return set(seq_, number); }
    Frame& ack(std::uint32_t number) { return set(ack_, number); }
    Frame& window(std::uint16_t bytes) { return set(window_, bytes); }
    // Of TCP, in whole words.
    Frame& tcp_options(Octets bytes) { return set(tcp_options_, std::move(bytes)); }
    Frame& ttl(std::uint8_t value) { return set(ttl_, value); }
    Frame& tos(std::uint8_t value) { return set(tos_, value); }
    Frame& proto(std::uint8_t value) { return set(proto_, value); }
    Frame& payload(std::size_t bytes) { return set(payload_, Octets(bytes)); }
    Frame& carries(Octets bytes) { return set(payload_, std::move(bytes)); }
    Frame& vlan(std::uint16_t id, std::uint16_t type = 0x8100) {
        tags_.push_back({type, id});
        return *this;
    }
    // Anything between the tags and IP (MPLS, PPPoE), with the EtherType that announces it.
    Frame& shim(std::uint16_t type, Octets bytes) {
        ether_type_ = type;
        return set(shim_, std::move(bytes));
    }
    Frame& options(Octets bytes) { return set(options_, std::move(bytes)); }
    // IPv6 extension headers, ready made; `first` is the first one's number.
    Frame& extensions(std::uint8_t first, Octets bytes) {
        first_extension_ = first;
        return set(extensions_, std::move(bytes));
    }
    // Offset in units of 8 bytes.
    Frame& frag(std::uint16_t offset, bool more) { return set(fragment_, Piece{offset, more}); }
    Frame& identification(std::uint16_t number) { return set(identification_, number); }
    // The frame comes in on the inside.
    Frame& from_inside() { return set(dir_, Direction::Out); }
    [[nodiscard]] Direction dir() const { return dir_; }
    // The SYN of a connection that begins with this segment's first byte.
    [[nodiscard]] Frame opening() const {
        Frame syn = *this;
        syn.data_offset_.reset();
        return syn.seq(seq_ - 1).flags(0x02).payload(0);
    }
    [[nodiscard]] bool is_segment() const { return proto_ == 6 && !raw_ && !fragment_; }
    [[nodiscard]] bool opens() const { return (flags_ & 0x12) == 0x02; }
    [[nodiscard]] bool has_payload() const { return !payload_.empty(); }
    // Both frames are of the same connection and direction.
    [[nodiscard]] bool goes_with(const Frame& other) const {
        return proto_ == other.proto_ && src_ == other.src_ && dst_ == other.dst_ &&
               sport_ == other.sport_ && dport_ == other.dport_ && tags_ == other.tags_ &&
               dir_ == other.dir_ && pair_ == other.pair_;
    }
    [[nodiscard]] bool is_before(const Frame& other) const {
        return static_cast<std::int32_t>(seq_ - other.seq_) < 0;
    }
    // On another pair than "lab".
    Frame& on(std::string_view pair) { return set(pair_, pair); }
    [[nodiscard]] std::string_view pair() const { return pair_; }
    // With a TCP checksum that is right, or off by so much.
    Frame& summed(std::uint16_t off_by = 0) { return set(sum_off_by_, off_by); }
    // With a TCP checksum that its sender leaves to its adapter: the pseudo-header's sum.
    Frame& unfinished() { return set(is_unfinished_, true); }
    // Overrides, to lie.
    Frame& ihl(std::uint8_t words) { return set(ihl_, words); }
    Frame& ip_len(std::uint16_t bytes) { return set(ip_len_, bytes); }
    Frame& udp_len(std::uint16_t bytes) { return set(udp_len_, bytes); }
    Frame& data_offset(std::uint8_t words) { return set(data_offset_, words); }
    Frame& ether_type(std::uint16_t type) { return set(ether_type_, type); }
    // Makes the whole frame `bytes` long by its payload; only shorter frames can be made so.
    Frame& size(std::size_t bytes) {
        const std::size_t now = this->bytes().size();
        payload_.resize(payload_.size() + bytes - now);
        return *this;
    }
    // Ends the frame after `bytes`, whatever its headers claim; pad() adds bytes behind it.
    Frame& cut(std::size_t bytes) { return set(cut_, bytes); }
    Frame& pad(std::size_t bytes) { return set(pad_, bytes); }

    [[nodiscard]] bool is_v6() const { return src_.version == IpVersion::V6; }

    [[nodiscard]] Octets bytes() const {
        const Octets carried = packet();
        Octets out(12);
        out.reserve(14 + 4 * tags_.size() + shim_.size() + carried.size() + pad_);
        for (std::size_t i = 0; i < 12; ++i) {
            out[i] = static_cast<std::byte>(i < 6 ? 0x02 + i : 0x10 + i);
        }
        for (const auto& [type, id] : tags_) {
            put16(out, type);
            put16(out, id);
        }
        put16(out, ether_type_.value_or(is_v6() ? 0x86DD : 0x0800));
        put(out, shim_);
        put(out, carried);
        out.resize(out.size() + pad_);
        if (cut_ < out.size()) {
            out.resize(cut_);
        }
        return out;
    }
    // The IP packet alone, to be carried in a tunnel.
    [[nodiscard]] Octets packet() const {
        if (raw_) {
            return payload_;
        }
        return is_v6() ? ipv6() : ipv4();
    }

private:
    friend Frame arp();
    struct Tag {
        std::uint16_t type;
        std::uint16_t id;
        [[nodiscard]] bool operator==(const Tag&) const = default;
    };
    struct Piece {
        std::uint16_t offset;
        bool more;
    };

    template <typename T, typename V>
    Frame& set(T& member, V&& value) {
        member = std::forward<V>(value);
        return *this;
    }
    Frame& address(VersionedAddress& member, std::string_view text) {
        const auto parsed = parse_address(text);
        if (!parsed) {
            throw std::invalid_argument("not an address");
        }
        if (parsed->version != member.version) {  // both ends speak the same version
            const char* other = parsed->version == IpVersion::V6 ? "2001:db8::99" : "192.0.2.99";
            src_ = dst_ = *parse_address(other);
        }
        return set(member, *parsed);
    }
    [[nodiscard]] Octets transport() const {
        Octets out;
        if (fragment_ && fragment_->offset != 0) {
            return payload_;
        }
        out.reserve(20 + payload_.size());
        if (proto_ == 6) {
            put16(out, sport_);
            put16(out, dport_);
            put32(out, seq_);
            put32(out, ack_);
            const auto words = static_cast<std::uint8_t>(5 + tcp_options_.size() / 4);
            put16(out, static_cast<unsigned>(data_offset_.value_or(words) << 12) | flags_);
            put16(out, window_);
            put32(out, 0);
            put(out, tcp_options_);
        } else if (proto_ == 17) {
            put16(out, sport_);
            put16(out, dport_);
            put16(out, udp_len_.value_or(static_cast<std::uint16_t>(8 + payload_.size())));
            put16(out, 0);
        } else if (proto_ == 1 || proto_ == 58) {
            put8(out, sport_);  // icmp(type, code) keeps them where others keep ports
            put8(out, dport_);
            out.resize(8);
        }
        put(out, payload_);
        return out;
    }
    [[nodiscard]] Octets ipv4() const {
        Octets data = transport();
        const std::size_t header = 20 + options_.size();
        Octets out;
        out.reserve(header + data.size());
        put8(out, 0x40U | ihl_.value_or(static_cast<std::uint8_t>(header / 4)));
        put8(out, tos_);
        put16(out, ip_len_.value_or(static_cast<std::uint16_t>(header + data.size())));
        put16(out, identification_);
        put16(out, fragment_ ? fragment_->offset | (fragment_->more ? 0x2000U : 0U) : 0U);
        put8(out, ttl_);
        put8(out, proto_);
        put16(out, 0);
        out.insert(out.end(), src_.address.bytes.begin(), src_.address.bytes.begin() + 4);
        out.insert(out.end(), dst_.address.bytes.begin(), dst_.address.bytes.begin() + 4);
        put(out, options_);
        const std::size_t ends_at = 12;
        const std::uint16_t checksum = checksum_of(out, 0, out.size());
        out[10] = static_cast<std::byte>(checksum >> 8);
        out[11] = static_cast<std::byte>(checksum & 0xFF);
        sum(data, {out.begin() + ends_at, out.begin() + ends_at + 8});
        put(out, data);
        return out;
    }
    // Writes the checksum of a segment between ends of these addresses.
    void sum(Octets& segment, const Octets& ends) const {
        if ((!sum_off_by_ && !is_unfinished_) || proto_ != 6) {
            return;
        }
        Octets covered = ends;
        put16(covered, proto_);
        put16(covered, static_cast<unsigned>(segment.size()));
        const unsigned pseudo_header = checksum_of(covered, 0, covered.size());
        put(covered, segment);
        const unsigned sum = is_unfinished_
                                 ? ~pseudo_header
                                 : checksum_of(covered, 0, covered.size()) + *sum_off_by_;
        segment[16] = static_cast<std::byte>(sum >> 8 & 0xFF);
        segment[17] = static_cast<std::byte>(sum & 0xFF);
    }
    [[nodiscard]] Octets ipv6() const {
        Octets data = extensions_;
        if (fragment_) {
            put8(data, proto_);
            put8(data, 0);
            put16(data,
                  static_cast<unsigned>(fragment_->offset << 3) | (fragment_->more ? 1U : 0U));
            put32(data, identification_);
        }
        Octets ends{src_.address.bytes.begin(), src_.address.bytes.end()};
        ends.insert(ends.end(), dst_.address.bytes.begin(), dst_.address.bytes.end());
        Octets segment = transport();
        sum(segment, ends);
        put(data, segment);
        Octets out;
        out.reserve(40 + data.size());
        put32(out, 0x6000'0000U | (static_cast<std::uint32_t>(tos_) << 20));
        put16(out, ip_len_.value_or(static_cast<std::uint16_t>(data.size())));
        put8(out, !extensions_.empty() ? first_extension_ : fragment_ ? 44U : proto_);
        put8(out, ttl_);
        out.insert(out.end(), src_.address.bytes.begin(), src_.address.bytes.end());
        out.insert(out.end(), dst_.address.bytes.begin(), dst_.address.bytes.end());
        put(out, data);
        return out;
    }

    VersionedAddress src_ = *parse_address("192.0.2.1");
    VersionedAddress dst_ = *parse_address("198.51.100.1");
    std::uint16_t sport_ = 40'000;
    std::uint16_t dport_ = 9;
    std::uint16_t flags_ = 0x010;
    std::uint32_t seq_ = 1;
    std::uint32_t ack_ = 0;
    std::uint16_t identification_ = 0x1234;
    std::uint8_t proto_;
    std::uint16_t window_ = 0xFFFF;
    std::uint8_t ttl_ = 64;
    std::uint8_t tos_ = 0;
    std::uint8_t first_extension_ = 0;
    bool raw_ = false;
    Direction dir_ = Direction::In;
    std::string_view pair_ = "lab";
    Octets payload_;
    Octets shim_;
    Octets options_;
    Octets tcp_options_;
    Octets extensions_;
    std::vector<Tag> tags_;
    std::optional<Piece> fragment_;
    std::optional<std::uint8_t> ihl_;
    std::optional<std::uint8_t> data_offset_;
    std::optional<std::uint16_t> ip_len_;
    std::optional<std::uint16_t> udp_len_;
    std::optional<std::uint16_t> ether_type_;
    std::optional<std::uint16_t> sum_off_by_;
    bool is_unfinished_ = false;
    std::size_t cut_ = SIZE_MAX;
    std::size_t pad_ = 0;
};

inline Frame udp() {
    return Frame{17};
}
inline Frame tcp() {
    return Frame{6};
}
inline Frame icmp(std::uint8_t type, std::uint8_t code) {
    return Frame{1}.sport(type).dport(code);
}
inline Frame icmpv6(std::uint8_t type, std::uint8_t code) {
    return Frame{58}.src("2001:db8::1").dst("2001:db8::2").sport(type).dport(code);
}
inline Frame arp() {
    Frame frame{0};
    frame.raw_ = true;
    return frame.ether_type(0x0806).payload(28);
}

}  // namespace sluice::test
