#pragma once
#include "control/daemon/live/second_ring.hpp"
#include "control/daemon/live/snapshot.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace sluice {

// The last ten minutes at one second: 20 KiB of totals, and 10 KiB each for at most kLongRules
// rules, the busiest and those that somebody has asked about; 2.5 MiB in all, however many rules
// there are. Every rule has its last minute in its row of the snapshot (240 bytes).
class LiveHistory {
public:
    static constexpr std::int64_t kSeconds = SecondRing<1>::kSeconds;
    static constexpr std::size_t kLongRules = 256;
    static constexpr std::size_t kBusy = 64;        // rules of a second that are remembered
    static constexpr std::int64_t kAskedFor = 600;  // seconds that a rule asked about is held

    void put(const LiveSnapshot& snapshot);

    // {"offered_pps":[…],…} of the seconds up to `to`, the oldest first; null: a gap.
    [[nodiscard]] Json totals(std::int64_t to, std::int64_t seconds) const;
    // Likewise of a rule, which is held from now on; nullopt: `snapshot` has no such rule.
    [[nodiscard]] std::optional<Json> of_rule(const LiveSnapshot& snapshot, const std::string& id,
                                              std::int64_t seconds);

private:
    using Totals = SecondRing<8>;
    using OfRule = SecondRing<4>;
    struct Held {
        OfRule ring;
        std::int64_t wanted_until = 0;
    };
    void hold(const LiveRule& rule, std::int64_t second, std::int64_t until);
    void hold_busiest(const LiveSnapshot& snapshot);

    Totals totals_;
    std::unordered_map<std::string, Held> held_;
};

// The last minute of each rule: that of the snapshot before, moved on by the time between them.
void carry_sparks(const LiveSnapshot* before, LiveSnapshot& snapshot);

}  // namespace sluice
