#pragma once
#include "lib/meter/entry.hpp"
#include "lib/meter/limit.hpp"
#include "lib/rules/verdict.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace sluice {

struct RuleSet;
struct TagValues;

// What the stages need of a rule of the common kind, in two cache lines side by side: one address
// of the packet is the key of one limit, which counts packets or bytes at a cost of 1. Everything
// here follows from the rule itself.
struct alignas(64) QuickRule {
    enum class Key : std::uint8_t { Other, Source, Destination };

    std::uint64_t identity = 0;  // of the limit
    // The canonical key of an IPv4 address is this header and the address under this mask (in
    // network byte order).
    std::uint32_t v4_header = 0;
    std::uint32_t v4_mask = 0;
    // And of an IPv6 address; no header: those take the long way.
    std::array<std::uint64_t, 2> v6_mask{};
    std::uint32_t v6_header = 0;
    LimitSlot slot = 0;
    Key key = Key::Other;  // Other: nothing above is filled in
    bool per_byte = false;
    std::uint8_t version = 0;  // of the limit's numbers

    // The rule enforces, its one limit is a token bucket, and what it refuses spends nothing.
    bool plain = false;
    // The same, but workers share its limit, and how far each may go ahead; 0: it is not like that.
    std::uint32_t max_unsynced = 0;
    Verdict on_exceed = Verdict::Drop;
    std::uint32_t counters = 0;
    const TagValues* tag = nullptr;
    std::optional<Limit> limit;  // a copy: ten thousand rules lie on as many pages
};
static_assert(sizeof(QuickRule) == 128, "two lines per match");

// Fills set.quick; to be called again when slots or counters have been given out anew. The set may
// be moved afterwards, not copied.
void list_quick_rules(RuleSet& set);

}  // namespace sluice
