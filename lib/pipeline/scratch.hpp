#pragma once
#include "lib/load/loaded_set.hpp"
#include "lib/match/found_rules.hpp"
#include "lib/meter/any_meter.hpp"
#include "lib/meter/entry.hpp"
#include "lib/pipeline/packet.hpp"

#include <array>
#include <cstdint>
#include <memory>

namespace sluice {

// One rule that matches one packet of the burst.
struct Match {
    std::uint32_t rule = 0;   // index in the rule set
    std::uint32_t first = 0;  // its first look in Scratch::looks
    std::uint8_t packet = 0;  // its row
    bool skipped = false;     // a key part is missing, so the rule does not apply
    bool refused = false;     // one of its limits did not admit the packet
};

// One limit looked at for one packet. A line each.
struct alignas(64) Look {
    FiledKey key;
    Units cost;
    const AnyLimit* numbers = nullptr;  // that it is judged by: the limit's own, or coarser ones
    // Where its bucket lies. Held from the look to the charge; before the look only a guess, since
    // an earlier packet may have moved it.
    Entry* entry = nullptr;
    // Only where the rule has overrides; `numbers` may be nullptr then: as its bucket says.
    union {
        std::uint64_t digest = 0;  // of its key; once the packet is judged:
        const LimitOverride* own;  // the numbers that the key has; nullptr: the limit's
    };
    Judgement judgement = Judgement::Red;
    bool asked = false;  // the packet carries what this limit counts
};

// The rules of one packet: matches[first, first + count).
struct MatchSpan {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

// Working memory of one burst, sized once for the largest rule set there can be, so that workers
// never allocate. Pages that no rule set needs are never touched.
struct Scratch {
    std::array<MatchSpan, kMaxBurst> spans{};
    // One after the other, packet by packet; behind them is room for what does not count.
    std::unique_ptr<Match[]> matches =
        std::make_unique_for_overwrite<Match[]>(kMaxBurst * kMaxRules + 2);
    std::uint32_t match_count = 0;  // of the burst
    std::unique_ptr<Look[]> looks = std::make_unique_for_overwrite<Look[]>(kMaxBurst * kMaxLimits);
    std::uint32_t look_count = 0;  // of the burst
    // Looks whose keys are not in their first lines; and room for an end.
    std::unique_ptr<Look*[]> missed =
        std::make_unique_for_overwrite<Look*[]>(kMaxBurst * kMaxLimits + 1);
    std::size_t miss_count = 0;
    // Where workers share limits: whether buckets may have leases, which spare the ledger a
    // question; whether most of the last burst had none, so that the ledger's lines are asked for
    // early; and looks that it is asked about, as far as can be told before they are judged.
    bool leases = false;
    bool asks_early = false;
    std::unique_ptr<Look*[]> unleased =
        std::make_unique_for_overwrite<Look*[]>(kMaxBurst * kMaxLimits);
    std::size_t unleased_count = 0;
    // Under which the looks were made, if keys of its rules have overrides; nullptr: none have.
    const LoadedSet* overridden = nullptr;
    // Where that is one rule for all packets: what was seen of the rows' keys, a bit for each row.
    // The others are looked up in the table of overrides.
    struct Seen {
        std::uint32_t ordinary = 0;  // nothing is said of them
        std::uint32_t own = 0;       // they have numbers of their own
        std::uint32_t exempt = 0;
    };
    Seen seen;
    // How many of the last burst were looked up so, and how many of them were exempt: where most
    // looks did, the table's lines are asked for beside those of buckets that are missed, and where
    // most were exempt, before those of any bucket.
    std::size_t table_asks = 0;
    std::size_t exempt_count = 0;
    bool overrides_first = false;  // so it is with this burst
    FoundRules found;
    std::uint32_t noted = 0;  // rows of which Burst::only_match() has noted what they met

    // A burst without packets has nothing to be located.
    void forget() noexcept {
        match_count = 0;
        look_count = 0;
        miss_count = 0;
        unleased_count = 0;
        noted = 0;
        seen = {};
    }
};

}  // namespace sluice
