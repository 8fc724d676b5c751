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

struct RuleSet;
struct TagValues;

// What the stages need of a rule of the common kind, in two cache lines side by side: one address
// of the packet is the key of one limit, which counts packets or bytes at a cost of 1. Everything
// here follows from the rule itself.
struct alignas(64) QuickRule {
    // Which of a flow's two addresses is the key, so that neither is asked for by name.
    enum class Key : std::uint8_t {
        Source,
        Destination,
        Other = 63 - static_cast<int>(Field::IpSrc)
    };

    std::uint64_t start = 0;  // KeyHasher::start_of() the limit
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

    // Whether the flow has that address.
    [[nodiscard]] bool finds_key(const Flow& flow) const noexcept {
        static_assert(Field::IpDst == Field{static_cast<int>(Field::IpSrc) + 1});
        return flow.fields.has_number(static_cast<unsigned>(Field::IpSrc) +
                                      static_cast<unsigned>(key));
    }
    // Where it is.
    [[nodiscard]] const std::byte* address_in(const Flow& flow) const noexcept {
        static_assert(offsetof(Flow, dst) == offsetof(Flow, src) + sizeof(IpAddress));
        return reinterpret_cast<const std::byte*>(&flow) + offsetof(Flow, src) +
               static_cast<std::size_t>(key) * sizeof(IpAddress);
    }
};
static_assert(sizeof(QuickRule) == 128, "two lines per match");

// Fills set.quick; to be called again when slots or counters have been given out anew. The set may
// be moved afterwards, not copied.
void list_quick_rules(RuleSet& set);

}  // namespace sluice
