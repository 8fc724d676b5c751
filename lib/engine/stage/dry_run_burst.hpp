#pragma once
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/rules/load/loaded_set.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

// One limit of a rule that a packet matches, and the bucket that the packet would find.
struct LimitFinding {
    std::uint32_t rule = 0;   // index in the rule set
    std::uint8_t limit = 0;   // index in the rule
    std::uint8_t unit = 0;    // of the packet
    bool asked = false;       // else nothing is counted, a key is exempt or banned, or an earlier
                              // rule has decided
    bool at_owner = false;    // another worker says; it is taken to say yes
    bool has_bucket = false;  // the key has one here; else it would get one
    bool charged = false;     // the packet would be
    std::uint8_t aggregation_level = 0;  // of the bucket that is asked; 0: the key's own
    Conformance conformance = Conformance::Red;
    Units cost;
    Units remaining;     // in the bucket that is asked, or would be; before the packet
    Nanoseconds wait{};  // until the cost is admitted; kNever
};

// The penalty box of one key of a rule that a packet matches.
struct BanFinding {
    std::uint32_t rule = 0;
    std::uint8_t key = 0;  // of the rule's keys
    std::uint8_t unit = 0;
    Units refusals;      // that count before the packet
    Units after;         // so many are a ban
    Nanoseconds left{};  // of the ban that the packet meets; 0: none
};

// The decision of a worker about a packet that has not come.
struct DryRun {
    bool decided = false;  // false: there are more findings than room for them, and nothing was run
    Decision decision;
    std::size_t findings = 0;
    std::size_t bans = 0;
};
// Room for both: for each limit, and each box, of each rule that matches each unit.
struct FindingsRoom {
    std::span<LimitFinding> limits;
    std::span<BanFinding> bans;
};

// Decides the burst's one packet as if it came now, by the general path. Buckets, counters and
// ledgers stay as they are, nobody is told and no owner is asked; keys that have no bucket have
// none afterwards, for which a bucket that is as good as new may have gone. The burst has been
// matched and keyed under the same rules, by whoever asks and with a core of his own.
[[nodiscard]] DryRun dry_run_burst(Burst& burst, const LoadedSet& set, CoreState& core, Now now,
                                   const FindingsRoom& room) noexcept;

}  // namespace sluice
