#include "lib/units/endpoints.hpp"

#include "lib/hash/group_key.hpp"

#include <cstring>
#include <span>
#include <type_traits>

namespace sluice {

namespace {

// An address of IPv4 has four bytes, so that most keys are two blocks of the hash.
template <typename Address>
struct Endpoints {
    Address src;
    Address dst;
    std::uint64_t port;
    std::uint16_t sport;
    std::uint16_t dport;
    std::uint16_t vlan;
    std::uint8_t version;
    std::uint8_t dir;
};
using EndpointsV4 = Endpoints<std::uint32_t>;
using EndpointsV6 = Endpoints<IpAddress>;
static_assert(std::has_unique_object_representations_v<EndpointsV4> &&
                  std::has_unique_object_representations_v<EndpointsV6>,
              "their bytes are hashed");

constexpr std::uint16_t kNoVlan = 0xFFFF;

template <typename Address>
std::uint64_t digest(const KeyHasher& hash, const Endpoints<Address>& endpoints) noexcept {
    return hash.digest(std::as_bytes(std::span{&endpoints, 1}));
}

std::uint32_t v4_word(const IpAddress& address) noexcept {
    std::uint32_t word = 0;
    std::memcpy(&word, address.bytes.data(), sizeof(word));
    return word;
}

}  // namespace

std::uint64_t digest_of(const UnitSource& packet) noexcept {
    const PacketHeaders& headers = packet.headers;
    const auto between = [&]<typename Address>(const Address& src, const Address& dst) {
        return digest<Address>(
            packet.hash, {.src = src,
                          .dst = dst,
                          .port = headers.port,
                          .sport = headers.sport,
                          .dport = headers.dport,
                          .vlan = headers.fields.has(Field::VlanId) ? headers.vlan_id : kNoVlan,
                          .version = static_cast<std::uint8_t>(headers.ip_version),
                          .dir = static_cast<std::uint8_t>(headers.dir)});
    };
    return headers.ip_version == IpVersion::V6
               ? between(headers.src, headers.dst)
               : between(v4_word(headers.src), v4_word(headers.dst));
}

std::uint64_t digest_of(const UnitColumns& burst, std::size_t row) noexcept {
    const HeaderColumns& headers = burst.headers;
    const bool is_tagged = has_row(headers.present_rows(HeaderPart::Vlan), row);
    const auto between = [&]<typename Address>(const Address& src, const Address& dst) {
        return digest<Address>(burst.hash,
                               {.src = src,
                                .dst = dst,
                                .port = headers.port[row],
                                .sport = headers.sport[row],
                                .dport = headers.dport[row],
                                .vlan = is_tagged ? headers.vlan_id[row] : kNoVlan,
                                .version = static_cast<std::uint8_t>(headers.ip_version[row]),
                                .dir = static_cast<std::uint8_t>(headers.dir[row])});
    };
    return has_row(headers.v6, row) ? between(headers.src6[row], headers.dst6[row])
                                    : between(headers.src[row], headers.dst[row]);
}

std::uint64_t source_of(const UnitSource& packet) noexcept {
    const bool v6 = packet.headers.ip_version == IpVersion::V6;
    const IpAddress source = masked(packet.headers.src, v6 ? 64 : 32);
    return packet.hash.digest(std::as_bytes(std::span{&source, 1}));
}

}  // namespace sluice
