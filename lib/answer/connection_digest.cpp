#include "lib/answer/connection_digest.hpp"

#include <span>
#include <type_traits>

namespace sluice {
namespace {

struct Ends {
    IpAddress src;
    IpAddress dst;
    std::uint64_t port;
    std::uint16_t sport;
    std::uint16_t dport;
    std::uint16_t vlan;
    std::uint8_t version;
    std::uint8_t dir;
};
static_assert(std::has_unique_object_representations_v<Ends>, "its bytes are hashed");

constexpr std::uint16_t kUntagged = 0xFFFF;

}  // namespace

std::uint64_t connection_digest(const PacketHeaders& headers, Way way,
                                const KeyHasher& hash) noexcept {
    const bool along = way == Way::Along;
    const bool comes_in = headers.dir == Direction::In;
    const Ends ends{
        .src = along ? headers.src : headers.dst,
        .dst = along ? headers.dst : headers.src,
        .port = headers.port,
        .sport = along ? headers.sport : headers.dport,
        .dport = along ? headers.dport : headers.sport,
        .vlan = headers.fields.has(Field::VlanId) ? headers.vlan_id : kUntagged,
        .version = static_cast<std::uint8_t>(headers.ip_version),
        .dir = static_cast<std::uint8_t>(comes_in == along ? Direction::In : Direction::Out)};
    return hash.digest(std::as_bytes(std::span{&ends, 1}));
}

}  // namespace sluice
