#pragma once
#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/table/entry.hpp"
#include "lib/respond/decision.hpp"
#include "lib/rules/load/loaded_set.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

class Burst;

// The say of a rule about one unit of a packet.
enum class Finding : std::uint8_t {
    NotAsked,
    Nothing,   // the rule skips the unit, or counts nothing in it
    HasRoom,   // or it allows the unit on sight
    IsExempt,  // the key is
    Refuses,
};

// One rule that matches one unit of a packet, as the general path sees it.
struct Match {
    std::uint32_t rule = 0;   // index in the rule set
    std::uint32_t first = 0;  // of its checks
    // The rule's match in the nearest unit of the packet before this one, counted from 1 on; 0: it
    // has none.
    std::uint32_t previous = 0;
    bool skipped = false;  // a key part is missing, so the rule does not apply
    Finding finding = Finding::NotAsked;
    bool refused = false;        // one of its limits did not admit the unit
    bool counted = false;        // the rule has judged the unit, skipped it, or decided on sight
    bool bytes_counted = false;  // the packet's bytes have been counted with the unit
    bool passed = false;         // a budget of `bypass` has room for the unit
    bool blocks = false;         // the packet is not forwarded, if the rule has its way
    // The same of any unit of the packet.
    bool refused_any = false;
    bool blocks_any = false;
    // Under `shape`: how long its limits hold the packet; or that they cannot, and `overflow` has
    // decided.
    bool overflowed = false;
    Nanoseconds delay{};
};

// One unit of a packet: its rules, and the row that it is matched, keyed and located in.
struct EvaluatedUnit {
    Burst* burst = nullptr;
    std::size_t row = 0;
    Per kind = Per::Packet;  // of its own, or of a later layer
    // How many matches and checks of its packet come before it, and before those of other readings
    // of it.
    std::uint32_t matches_before = 0;
    std::uint32_t checks_before = 0;
    std::span<Match> matches;
    Decision decision;  // what became of it alone, once its packet has been decided
};

// One limit looked at for one packet by the general path.
struct alignas(64) LimitCheck {
    TableKey key;
    Units cost;
    const AnyLimit* numbers = nullptr;  // that it is judged by: the limit's own, or coarser ones
    // The entry of its bucket, held from the check to the charge.
    Entry* entry = nullptr;
    union {
        std::uint64_t digest = 0;  // of its key; once the key's overrides have been looked up:
        const LimitOverride* own;  // the numbers that the key has; nullptr: the limit's
    };
    // The same limit's check in the nearest unit of the packet before this one that its rule
    // matches, counted from 1 on; 0: it has none.
    std::uint32_t previous = 0;
    union {
        // Checks of this packet before this one under limits that workers share: each may take a
        // record.
        std::uint32_t shared_before = 0;
        // The value that the unit shows (ShownValue) and kCountsAlready, of limits of different
        // values, which are never shared.
        std::uint32_t value;
    };
    Conformance conformance = Conformance::Red;
    bool asked = false;                  // the unit is what this limit counts
    bool counted = false;                // the same, be it that the key is exempt or banned
    bool at_owner = false;               // who is asked: no entry here is its bucket
    bool answered = false;               // by its bucket there,
    bool reserved = false;               // refused now, charged for a later departure
    std::uint8_t aggregation_level = 0;  // of this level
    bool charged : 1 = false;            // of a question: the packet would be charged to it
    bool without_store : 1 = false;      // judged by `owner_down`: the cluster's store is away

    static constexpr std::uint32_t kCountsAlready = std::uint32_t{1} << 31;
    [[nodiscard]] std::uint32_t shown_value() const noexcept { return value & ~kCountsAlready; }
    // True if the unit costs nothing: the value that it shows counts already.
    [[nodiscard]] bool counts_already() const noexcept {
        return numbers != nullptr && needs_value(*numbers) && (value & kCountsAlready) != 0;
    }
};
static_assert(sizeof(LimitCheck) == 64);

}  // namespace sluice
