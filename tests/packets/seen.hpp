#pragma once
#include "lib/packet/field_text.hpp"
#include "lib/packet/parse.hpp"
#include "tests/packets/frame.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::test {

inline constexpr std::uint16_t kVxlanPort = 4789;
inline constexpr std::uint16_t kGenevePort = 6081;
inline constexpr std::uint16_t kGtpuPort = 2152;
inline constexpr std::uint16_t kOtherVxlanPort = 8472;
inline constexpr Tunnels kAllTunnels{.gre = true,
                                     .vxlan = true,
                                     .ipip = true,
                                     .geneve = true,
                                     .gtpu = true,
                                     .others = {{{kOtherVxlanPort, UdpTunnel::Vxlan}}}};

// What the parser finds. A `wire_size` above the bytes: the capture was cut.
inline PacketHeaders seen(const Octets& bytes, Tunnels tunnels = {}, std::size_t wire_size = 0) {
    PacketHeaders headers;
    const auto wire = static_cast<std::uint32_t>(std::max(wire_size, bytes.size()));
    parse_frame({bytes, wire}, tunnels, headers);
    return headers;
}

// All fields but dir, the MAC addresses and client.ip, which is ip.src again, as `name=value `, in
// the order of the table.
inline std::string show(const Octets& bytes, const PacketHeaders& headers) {
    std::string out;
    for (const FieldRow& row : kFields) {
        const bool left_out =
            row.kind == FieldKind::Mac || row.field == Field::Dir || row.field == Field::ClientIp;
        if (headers.fields.has(row.field) && !left_out) {
            out += std::string{row.name} + "=" + field_text(row.field, headers, bytes, "") + " ";
        }
    }
    return out;
}

inline Octets head_of(const Octets& bytes, std::size_t size) {
    return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
}

inline Octets joined(Octets first, const Octets& second) {
    put(first, second);
    return first;
}

// What tunnels put before the packet they carry.
inline Octets gre(unsigned flags, unsigned protocol, const Octets& inner, unsigned options = 0) {
    Octets out;
    put16(out, flags);
    put16(out, protocol);
    out.resize(out.size() + options);
    return joined(out, inner);
}
inline Octets vxlan(const Octets& inner, std::uint32_t flags = 0x0800'0000) {
    Octets out;
    put32(out, flags);
    put32(out, 0x0000'0100);
    return joined(out, inner);
}

// `options` in bytes, a multiple of four.
inline Octets geneve(unsigned type, const Octets& inner, unsigned options = 0, unsigned first = 0) {
    Octets out;
    put16(out, (first | options / 4) << 8);
    put16(out, type);
    put32(out, 0x0000'0700);
    out.resize(out.size() + options);
    return joined(out, inner);
}
// `extensions`: how many words each extension header says that it has, and has.
inline Octets gtpu(const Octets& inner, const std::vector<std::uint8_t>& extensions = {},
                   unsigned first = 0x30, unsigned message = 0xFF) {
    Octets out;
    put16(out, (first | (extensions.empty() ? 0U : 4U)) << 8 | message);
    put16(out, 0);  // the length is not believed
    put32(out, 7);
    if ((first & 7U) != 0 || !extensions.empty()) {
        put32(out, 9U << 16 | (extensions.empty() ? 0U : 0x85U));
    }
    for (std::size_t i = 0; i < extensions.size(); ++i) {
        const std::size_t words = std::max<std::size_t>(extensions[i], 1);
        const std::size_t at = out.size();
        out.resize(at + 4 * words);
        out[at] = std::byte{extensions[i]};
        out.back() = std::byte{static_cast<std::uint8_t>(i + 1 < extensions.size() ? 0x85 : 0)};
    }
    return joined(out, inner);
}

// Link layer pieces for Frame::shim().
// Cisco's, with the type of what follows it; `said`: units of eight bytes.
inline Octets metadata(unsigned type, std::uint8_t said = 1, std::size_t units = 1) {
    Octets out(8 * units - 2);
    out[0] = std::byte{1};
    out[1] = std::byte{said};
    put16(out, type);
    return out;
}
inline Octets label(bool bottom) {
    Octets out;
    put32(out, 0x0000'0040U | (bottom ? 0x100U : 0U));
    return out;
}
inline Octets pppoe(unsigned protocol) {
    Octets out;
    put32(out, 0x1100'0001);
    put16(out, 0);
    put16(out, protocol);
    return out;
}
// With the protocol in one octet (RFC 1661, 6.5).
inline Octets compressed_pppoe(std::uint8_t protocol) {
    Octets out = pppoe(protocol);
    out.pop_back();
    out.back() = std::byte{protocol};
    return out;
}

// An IPv6 extension header: what follows it, its length field, its size in bytes.
inline Octets extension(std::uint8_t next, std::uint8_t length, std::size_t size = 8) {
    Octets out(size);
    out[0] = std::byte{next};
    out[1] = std::byte{length};
    return out;
}

}  // namespace sluice::test
