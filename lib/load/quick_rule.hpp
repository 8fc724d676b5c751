#pragma once
#include "lib/meter/entry.hpp"
#include "lib/meter/limit.hpp"
#include "lib/packet/flow.hpp"
#include "lib/rules/verdict.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sluice {

class OverrideTable;
struct LoadedSet;
struct TagValues;

// What the stages need of a rule of the common kind, in two cache lines side by side: one address
// of the packet is the key of one limit, which counts packets or bytes at a cost of 1. Everything
// here follows from the rule itself.
struct alignas(64) QuickRule {
    static constexpr IpVersion kNoPacket{0xFF};

    std::uint64_t start = 0;  // KeyHasher::start_of() the limit
    // The canonical key of an IPv4 address is this header and the address under this mask (in
    // network byte order).
    std::uint32_t v4_header = 0;
    std::uint32_t v4_mask = 0;
    // And of an IPv6 address.
    std::array<std::uint64_t, 2> v6_mask{};
    std::uint32_t v6_header = 0;
    LimitSlot slot = 0;
    // The versions whose packets are keyed so, or kNoPacket: those take the long way.
    IpVersion v4 = kNoPacket;
    IpVersion v6 = kNoPacket;
    std::uint8_t address_at = 0;  // where the key's address stands in a Flow
    bool per_byte = false;
    std::uint8_t version = 0;  // of the limit's numbers

    // The rule enforces, its one limit is a token bucket, and what it refuses spends nothing.
    bool plain = false;
    // The same, but keys have overrides: its packets take a way of their own (judge_overridden),
    // and of these versions they are keyed as above.
    IpVersion overridden_v4 = kNoPacket;
    IpVersion overridden_v6 = kNoPacket;
    // A new bucket depends on nothing else: no share of the table that the rule may not go beyond,
    // no slot where keys may owe something from before they moved.
    bool opens_freely = false;
    Verdict on_exceed = Verdict::Drop;
    const OverrideTable* overrides = nullptr;  // nullptr: it is not like that
    // The same as `plain`, but workers share its limit, and how far each may go ahead; 0: it is not
    // like that.
    std::uint32_t max_unsynced = 0;
    std::uint32_t counters = 0;
    const TagValues* tag = nullptr;
    std::optional<Limit> limit;  // a copy: ten thousand rules lie on as many pages

    // Of a flow of these versions: whoever has an IP version has both addresses.
    [[nodiscard]] const std::byte* address_in(const Flow& flow) const noexcept {
        return reinterpret_cast<const std::byte*>(&flow) + address_at;
    }
};
static_assert(sizeof(QuickRule) == 128, "two lines per match");

// Fills set.quick, set.has_overrides and set.only_quick; to be called again when slots or counters
// have been given out anew. The set may be moved afterwards, not copied.
void list_quick_rules(LoadedSet& set);

}  // namespace sluice
