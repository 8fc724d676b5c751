#include "control/replay/rss_mapping.hpp"

#include "lib/bucket/hash/siphash.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

// Any fixed one will do: a capture is no attacker, and runs must be repeatable.
constexpr HashSecret kSecret{0x736C'7569'6365'2D72, 0x6570'6C61'792D'7273};

// Both addresses, the protocol and both ports.
struct HashInput {
    IpAddress first;
    IpAddress second;
    std::array<std::uint16_t, 2> ports{};
    std::uint32_t proto = 0;
    std::uint64_t version = 0;
};
static_assert(sizeof(HashInput) == 48, "hashed as bytes: no padding");

HashInput input_of(const PacketHeaders& outer, Rss input) {
    switch (input) {
        case Rss::Source:
            return {.first = outer.src, .second = {}};
        case Rss::Destination:
            return {.first = outer.dst, .second = {}};
        case Rss::Symmetric:
            return {.first = std::min(outer.src, outer.dst),
                    .second = std::max(outer.src, outer.dst)};
        case Rss::SourcePrefix:
            return {.first = masked(
                        outer.src, outer.ip_version == IpVersion::V4 ? kRssPrefixV4 : kRssPrefixV6),
                    .second = {}};
        default:
            break;
    }
    HashInput whole{.first = outer.src, .second = outer.dst};
    if (outer.frag == Fragment::None && outer.fields.has(Field::L4Sport)) {
        whole.ports = {outer.sport, outer.dport};
        whole.proto = outer.proto;
    }
    return whole;
}

}  // namespace

std::size_t worker_of(const PacketHeaders& outer, Rss input, std::size_t workers) {
    if (workers == 1 || !outer.fields.has(Field::IpSrc)) {
        return 0;
    }
    HashInput hashed = input_of(outer, input);
    hashed.version = static_cast<std::uint64_t>(outer.ip_version);
    return siphash_1_3(kSecret, std::as_bytes(std::span{&hashed, 1})) % workers;
}

Direction direction_of(const PacketHeaders& outer, const std::vector<IpPrefix>& inside) {
    const bool from_inside =
        outer.fields.has(Field::IpSrc) &&
        std::any_of(inside.begin(), inside.end(), [&outer](const IpPrefix& prefix) {
            return prefix.version == outer.ip_version &&
                   masked(outer.src, prefix.length) == prefix.address;
        });
    return from_inside ? Direction::Out : Direction::In;
}

namespace {

std::uint8_t bits_of(IpVersion version) {
    return version == IpVersion::V4 ? 32 : 128;
}

}  // namespace

Result<std::vector<IpPrefix>> parse_prefixes(const std::vector<std::string>& texts) {
    std::vector<IpPrefix> prefixes;
    for (const std::string& text : texts) {
        if (const std::optional<VersionedAddress> host = parse_address(text)) {
            prefixes.push_back({host->version, host->address, bits_of(host->version)});
            continue;
        }
        bool host_bits_set = false;
        const std::optional<IpPrefix> prefix = parse_prefix(text, &host_bits_set);
        if (!prefix) {
            return Error{
                Errc::BadSyntax,
                "'" + text + "' is not a prefix" +
                    (host_bits_set ? ": bits after its length are set"
                                   : "; write an address, or address/length such as 192.0.2.0/24")};
        }
        prefixes.push_back(*prefix);
    }
    return prefixes;
}

}  // namespace sluice
