#pragma once
#include "lib/packet/field.hpp"
#include "lib/rules/rule_set.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace sluice {

// One part of a key of which the stage that hashes keys can read the canonical bytes without
// walking the key's description: an address of the packet, or a number that stands in its headers.
struct KeySchemaPart {
    enum class Kind : std::uint8_t { Source, Destination, Number };
    Kind kind = Kind::Number;
    Field field{};                // of a number
    std::uint32_t header_v4 = 0;  // canonical header; of a number the same for both versions
    std::uint32_t header_v6 = 0;
    std::uint32_t mask_v4 = 0;  // network byte order
    std::array<std::uint64_t, 2> mask_v6{};
};

// The key of one or several limits: rules that group by the same parts share a schema, so that a
// packet's key is hashed once for all of them.
struct KeySchema {
    const GroupingKey* parts = nullptr;  // in the rule set
    MissingKey missing = MissingKey::Skip;
    // Every part is one of KeySchemaPart's kinds, and the bytes fit. Other keys (texts,
    // addresses of outer headers, MAC addresses) are read by key_of().
    bool is_fixed = false;
    // The same for IPv6 packets: client.ip may have another address inside these.
    bool is_fixed_v6 = false;
    bool is_one_address = false;
    std::vector<KeySchemaPart> fixed;
};

[[nodiscard]] KeySchema make_key_schema(const GroupingKey& parts, MissingKey missing);

// True if two keys have the same bytes for every packet, and are missing for the same packets.
[[nodiscard]] bool are_same_key(const KeySchema& schema, const GroupingKey& parts,
                                MissingKey missing) noexcept;

}  // namespace sluice
