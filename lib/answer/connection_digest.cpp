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
    std::uint32_t rest;  // tags, version and side
};
static_assert(std::has_unique_object_representations_v<Ends>, "its bytes are hashed");

// A VID has twelve bits; this stands for none.
constexpr std::uint32_t kUntagged = 0x1000;
constexpr unsigned kTagBits = 13;

std::uint32_t tags_of(const PacketHeaders& headers) noexcept {
    const std::uint32_t outer = headers.fields.has(Field::VlanId) ? headers.vlan_id : kUntagged;
    const std::uint32_t inner =
        headers.fields.has(Field::VlanInnerId) ? headers.vlan_inner_id : kUntagged;
    return outer << kTagBits | inner;
}

}  // namespace

std::uint64_t connection_digest(const PacketHeaders& headers, Way way,
                                const KeyHasher& hash) noexcept {
    const bool along = way == Way::Along;
    const bool from_inside = (headers.dir == Direction::In) != along;
    const bool is_v6 = headers.ip_version == IpVersion::V6;
    const Ends ends{.src = along ? headers.src : headers.dst,
                    .dst = along ? headers.dst : headers.src,
                    .port = headers.port,
                    .sport = along ? headers.sport : headers.dport,
                    .dport = along ? headers.dport : headers.sport,
                    .rest = tags_of(headers) << 2U | (is_v6 ? 2U : 0U) | (from_inside ? 1U : 0U)};
    return hash.digest(std::as_bytes(std::span{&ends, 1}));
}

}  // namespace sluice
