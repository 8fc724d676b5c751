#include "lib/l7/stream/source_network.hpp"

#include <span>

namespace sluice {

std::uint64_t source_of(const UnitSource& packet) noexcept {
    const bool v6 = packet.headers.ip_version == IpVersion::V6;
    const IpAddress source = masked(packet.headers.src, v6 ? 64 : 32);
    return packet.hash.digest(std::as_bytes(std::span{&source, 1}));
}

}  // namespace sluice
