#include "control/cli/explain/described_frame.hpp"

#include "lib/packet/internet_checksum.hpp"
#include "lib/packet/ip_address.hpp"
#include "lib/packet/tcp_flags.hpp"
#include "lib/packet/transport.hpp"
#include "lib/policy/texts/letter_case.hpp"
#include "lib/policy/values/units_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>

namespace sluice {
namespace {

constexpr std::uint32_t kLongest = 9000;

struct FlagRow {
    std::string_view name;
    std::uint8_t bit;
};
constexpr auto kFlags = std::to_array<FlagRow>(
    {{"fin", 1}, {"syn", 2}, {"rst", 4}, {"psh", 8}, {"ack", 16}, {"urg", 32}});
constexpr unsigned kWindow = 64'240;  // offered by either side

// Bytes one after the other, numbers in network order.
class Writer {
public:
    void u8(unsigned value) { bytes_.push_back(static_cast<std::byte>(value)); }
    void u16(unsigned value) {
        u8(value >> 8 & 0xFF);
        u8(value & 0xFF);
    }
    void u32(std::uint32_t value) {
        u16(value >> 16);
        u16(value & 0xFFFF);
    }
    void text(std::string_view text) {
        const ByteView bytes = std::as_bytes(std::span{text});
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    void zeroes(std::size_t count) { bytes_.resize(bytes_.size() + count); }
    void address(const VersionedAddress& value) {
        const std::size_t size = value.version == IpVersion::V4 ? 4 : 16;
        bytes_.insert(bytes_.end(), value.address.bytes.begin(),
                      value.address.bytes.begin() + static_cast<std::ptrdiff_t>(size));
    }
    [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

private:
    std::vector<std::byte> bytes_;
};

// What the words come to.
struct Described {
    VersionedAddress src;
    VersionedAddress dst;
    std::uint8_t proto = kProtoUdp;
    std::uint8_t flags = 0;
    std::uint32_t length = 0;
    std::string payload;

    [[nodiscard]] bool is_syn() const noexcept { return (flags & kTcpSyn) != 0; }

    [[nodiscard]] bool is_v4() const noexcept { return src.version == IpVersion::V4; }
    [[nodiscard]] std::uint32_t ip_header() const noexcept { return is_v4() ? 20 : 40; }
    [[nodiscard]] std::uint32_t transport_header() const noexcept {
        return proto == kProtoTcp                               ? 20
               : proto == kProtoUdp                             ? 8
               : (proto == kProtoIcmp || proto == kProtoIcmpv6) ? 8
                                                                : 0;
    }
};

Error wrong(std::string what) {
    return Error{Errc::BadSyntax, std::move(what)};
}

Result<Done> read_addresses(const PacketWords& words, Described& packet) {
    if (words.src.empty() || words.dst.empty()) {
        return wrong(words.src.empty() ? "--src, the sender's address, is missing"
                                       : "--dst, the receiver's address, is missing");
    }
    const std::optional<VersionedAddress> src = parse_address(words.src);
    const std::optional<VersionedAddress> dst = parse_address(words.dst);
    if (!src) {
        return wrong("--src: `" + words.src + "` is not an address");
    }
    if (!dst) {
        return wrong("--dst: `" + words.dst + "` is not an address");
    }
    if (src->version != dst->version) {
        return wrong("--src and --dst are of different IP versions");
    }
    packet.src = *src;
    packet.dst = *dst;
    return Done{};
}

Result<Done> read_proto(const PacketWords& words, Described& packet) {
    if (words.proto.empty()) {
        packet.proto = words.flags.empty() && words.http.empty() ? kProtoUdp : kProtoTcp;
    } else if (words.proto == "tcp") {
        packet.proto = kProtoTcp;
    } else if (words.proto == "udp") {
        packet.proto = kProtoUdp;
    } else if (words.proto == "icmp") {
        packet.proto = packet.is_v4() ? kProtoIcmp : kProtoIcmpv6;
    } else if (const auto number = parse_number(words.proto, 255)) {
        packet.proto = static_cast<std::uint8_t>(*number);
    } else {
        return wrong("--proto is tcp, udp, icmp or a number up to 255, found `" + words.proto +
                     "`");
    }
    return Done{};
}

Result<Done> read_flags(const PacketWords& words, Described& packet) {
    if (!words.flags.empty() && packet.proto != kProtoTcp) {
        return wrong("--flags are TCP's; the packet is not TCP");
    }
    if (words.flags.empty() && !words.http.empty()) {
        packet.flags = kTcpPsh | kTcpAck;  // as clients send requests
    }
    for (const std::string& word : words.flags) {
        const auto* row = std::find_if(kFlags.begin(), kFlags.end(),
                                       [&](const FlagRow& flag) { return flag.name == word; });
        if (row == kFlags.end()) {
            return wrong("--flags lists syn, ack, fin, rst, psh or urg, found `" + word + "`");
        }
        packet.flags |= row->bit;
    }
    return Done{};
}

// `hex:` and digits, blanks between them allowed.
std::optional<std::string> from_hex(std::string_view text) {
    std::string digits{text};
    std::erase(digits, ' ');
    std::string bytes;
    for (std::size_t i = 0; i < digits.size(); i += 2) {
        unsigned value = 0;
        const char* const first = digits.data() + i;
        const auto [end, error] =
            std::from_chars(first, first + std::min<std::size_t>(2, digits.size() - i), value, 16);
        if (error != std::errc{} || end != first + 2) {
            return std::nullopt;
        }
        bytes.push_back(static_cast<char>(value));
    }
    return bytes;
}

// A text in which `\\` is a backslash and `\xNN` a byte.
std::optional<std::string> from_text(std::string_view text) {
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\') {
            bytes.push_back(text[i]);
        } else if (text.substr(i, 2) == "\\\\") {
            bytes.push_back('\\');
            ++i;
        } else {
            const std::optional<std::string> byte =
                text.substr(i, 2) == "\\x" ? from_hex(text.substr(i + 2, 2)) : std::nullopt;
            if (!byte || byte->size() != 1) {
                return std::nullopt;
            }
            bytes += *byte;
            i += 3;
        }
    }
    return bytes;
}

// A client without a given name names the address that it asks.
std::string host_of(const Described& packet) {
    const std::string address = to_text(packet.dst.version, packet.dst.address);
    return packet.is_v4() ? address : "[" + address + "]";
}

// Ports that are not given are those of an ordinary client and of http.
PacketWords with_ports(PacketWords words) {
    constexpr std::uint16_t kFirstEphemeral = 49152;  // RFC 6335, 6
    constexpr std::uint16_t kHttpPort = 80;
    if (!words.http.empty()) {
        words.sport = words.sport == 0 ? kFirstEphemeral : words.sport;
        words.dport = words.dport == 0 ? kHttpPort : words.dport;
    }
    return words;
}

Result<Done> read_http(const PacketWords& words, Described& packet) {
    const bool one_line = (words.http + words.host).find_first_of("\r\n") == std::string::npos;
    const auto is_header = [](const std::string& line) {
        const std::size_t colon = line.find(':');
        return colon != std::string::npos && colon != 0 &&
               line.find_first_of("\r\n") == std::string::npos;
    };
    const auto wrong_line = std::ranges::find_if_not(words.header_lines, is_header);
    if (wrong_line != words.header_lines.end()) {
        return wrong("--header is a name and a value, such as 'Accept: */*', found `" +
                     *wrong_line + "`");
    }
    const std::size_t blank = words.http.find(' ');
    if (!one_line || blank == 0 || blank == std::string::npos || blank + 1 == words.http.size()) {
        return wrong("--http is a method and a target, such as 'GET /x', found `" + words.http +
                     "`");
    }
    if (!words.payload.empty()) {
        return wrong("--http is a payload, and excludes --payload");
    }
    if (packet.proto != kProtoTcp) {
        return wrong("--http is the payload of a TCP packet, and --proto says " + words.proto);
    }
    packet.payload = words.http + " HTTP/1.1\r\n";
    const bool names_host = std::ranges::any_of(words.header_lines, [](const std::string& line) {
        return lowered(std::string_view{line}.substr(0, line.find(':'))) == "host";
    });
    if (!words.host.empty() || !names_host) {
        const std::string host = words.host.empty() ? host_of(packet) : words.host;
        packet.payload += "Host: " + host + "\r\n";
    }
    for (const std::string& line : words.header_lines) {
        packet.payload += line + "\r\n";
    }
    packet.payload += "\r\n";
    return Done{};
}

Result<Done> read_payload(const PacketWords& words, Described& packet) {
    if (!words.http.empty()) {
        return read_http(words, packet);
    }
    if (!words.host.empty() || !words.header_lines.empty()) {
        return wrong("--host and --header belong to --http");
    }
    constexpr std::string_view kHex = "hex:";
    const bool hex = words.payload.starts_with(kHex);
    const std::optional<std::string> bytes =
        hex ? from_hex(std::string_view{words.payload}.substr(kHex.size()))
            : from_text(words.payload);
    if (!bytes) {
        return wrong(
            "--payload is a text with \\xNN for bytes and \\\\ for a backslash, or hex: and "
            "pairs of digits");
    }
    packet.payload = *bytes;
    return Done{};
}

Result<Done> read_length(const PacketWords& words, Described& packet) {
    const std::size_t least =
        packet.ip_header() + packet.transport_header() + packet.payload.size();
    packet.length = words.length == 0 ? static_cast<std::uint32_t>(least) : words.length;
    if (packet.length < least || packet.length > kLongest) {
        return wrong("--length: an IP packet of this kind is from " + std::to_string(least) +
                     " to " + std::to_string(kLongest) + " bytes long");
    }
    return Done{};
}

Result<Described> read_words(const PacketWords& words) {
    Described packet;
    for (const auto read : {read_addresses, read_proto, read_flags, read_payload, read_length}) {
        const Result<Done> done = read(words, packet);
        if (!done) {
            return done.error();
        }
    }
    return packet;
}

void write_ethernet(Writer& out, const PacketWords& words, const Described& packet) {
    out.zeroes(12);
    if (words.vlan != 0) {
        out.u16(0x8100);
        out.u16(words.vlan);
    }
    out.u16(packet.is_v4() ? 0x0800 : 0x86DD);
}

void write_ipv4(Writer& out, const PacketWords& words, const Described& packet) {
    out.u8(0x45);
    out.u8(static_cast<unsigned>(words.dscp) << 2);
    out.u16(packet.length);
    out.zeroes(4);
    out.u8(words.ttl);
    out.u8(packet.proto);
    out.zeroes(2);
}

void write_ipv6(Writer& out, const PacketWords& words, const Described& packet) {
    out.u16(0x6000U | static_cast<unsigned>(words.dscp) << 6);
    out.u16(0);
    out.u16(packet.length - 40);
    out.u8(packet.proto);
    out.u8(words.ttl);
}

void write_transport(Writer& out, const PacketWords& words, const Described& packet) {
    if (packet.proto == kProtoTcp) {
        out.u16(words.sport);
        out.u16(words.dport);
        out.u32(packet.is_syn() ? 0 : 1);
        out.u32((packet.flags & kTcpAck) != 0 ? 1 : 0);
        out.u8(5U << 4);
        out.u8(packet.flags);
        out.u16(kWindow);
        out.zeroes(4);
    } else if (packet.proto == kProtoUdp) {
        out.u16(words.sport);
        out.u16(words.dport);
        out.u16(packet.length - packet.ip_header());
        out.u16(0);
    } else {
        out.zeroes(packet.transport_header());
    }
    out.text(packet.payload);
    out.zeroes(packet.length - packet.ip_header() - packet.transport_header() -
               packet.payload.size());
}

void write_sum(std::span<std::byte> frame, std::size_t at, std::uint16_t sum) {
    frame[at] = static_cast<std::byte>(sum >> 8U);
    frame[at + 1] = static_cast<std::byte>(sum & 0xFFU);
}

// Checksums as a sender writes them. A datagram's may be absent where IPv6 does not ask for it.
void write_checksums(std::span<std::byte> frame, const Described& packet) {
    const std::size_t ip = frame.size() - packet.length;
    const std::size_t segment = ip + packet.ip_header();
    if (packet.is_v4()) {
        InternetChecksum sum;
        sum.add(frame.subspan(ip, packet.ip_header()));
        write_sum(frame, ip + 10, sum.value());
    }
    const bool is_tcp = packet.proto == kProtoTcp;
    if (is_tcp || (packet.proto == kProtoUdp && !packet.is_v4())) {
        const ByteView bytes = frame.subspan(segment);
        InternetChecksum sum;
        sum.add_pseudo_header(packet.src.version, packet.src.address, packet.dst.address,
                              packet.proto, static_cast<std::uint16_t>(bytes.size()));
        sum.add(bytes);
        const std::uint16_t value = sum.value();
        write_sum(frame, segment + (is_tcp ? 16 : 6), !is_tcp && value == 0 ? 0xFFFF : value);
    }
}

}  // namespace

Result<std::vector<std::byte>> described_frame(const PacketWords& given) {
    const PacketWords words = with_ports(given);
    const Result<Described> packet = read_words(words);
    if (!packet) {
        return packet.error();
    }
    Writer out;
    write_ethernet(out, words, *packet);
    (packet->is_v4() ? write_ipv4 : write_ipv6)(out, words, *packet);
    out.address(packet->src);
    out.address(packet->dst);
    write_transport(out, words, *packet);
    std::vector<std::byte> frame = out.take();
    write_checksums(frame, *packet);
    return frame;
}

std::optional<std::array<PacketWords, 3>> handshake_before(const PacketWords& given) {
    const PacketWords words = with_ports(given);
    const Result<Described> packet = read_words(words);
    if (!packet || packet->proto != kProtoTcp || packet->payload.empty() || packet->is_syn()) {
        return std::nullopt;
    }
    PacketWords syn = words;
    syn.flags = {"syn"};
    syn.length = 0;
    syn.payload = syn.http = syn.host = "";
    syn.header_lines.clear();
    syn.proto = "tcp";
    PacketWords syn_ack = syn;
    syn_ack.flags = {"syn", "ack"};
    std::swap(syn_ack.src, syn_ack.dst);
    std::swap(syn_ack.sport, syn_ack.dport);
    PacketWords ack = syn;
    ack.flags = {"ack"};
    return std::array{syn, syn_ack, ack};
}

}  // namespace sluice
