#include "lib/packet/rss.hpp"

#include "lib/packet/transport.hpp"

#include <cstring>

namespace sluice {
namespace {

constexpr std::size_t kV4Bytes = 4;
constexpr std::size_t kV6Bytes = 16;

// NICs hash the ports of TCP and UDP only.
bool hashes_ports(const PacketHeaders& outer) noexcept {
    return outer.frag == Fragment::None && outer.fields.has(Field::L4Sport) &&
           (outer.proto == kProtoTcp || outer.proto == kProtoUdp);
}

}  // namespace

void RssBytes::add(const IpAddress& address, std::size_t size) noexcept {
    std::memcpy(bytes_.data() + size_, address.bytes.data(), size);
    size_ += size;
}

void RssBytes::add_port(std::uint16_t port) noexcept {
    bytes_[size_++] = static_cast<std::byte>(port >> 8);
    bytes_[size_++] = static_cast<std::byte>(port & 0xFF);
}

RssBytes::RssBytes(const PacketHeaders& outer, Rss how) noexcept {
    if (!outer.fields.has(Field::IpSrc)) {
        return;
    }
    const bool v4 = outer.ip_version == IpVersion::V4;
    const std::size_t size = v4 ? kV4Bytes : kV6Bytes;
    switch (how) {
        case Rss::Source:
            add(outer.src, size);
            return;
        case Rss::Destination:
            add(outer.dst, size);
            return;
        case Rss::SourcePrefix:
            add(outer.src, (v4 ? kRssPrefixV4 : kRssPrefixV6) / 8U);
            return;
        default:
            add(outer.src, size);
            add(outer.dst, size);
            break;
    }
    if (how == Rss::FiveTuple && hashes_ports(outer)) {
        add_port(outer.sport);
        add_port(outer.dport);
    }
}

}  // namespace sluice
