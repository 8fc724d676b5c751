#pragma once
#include "lib/rules/rule_counts.hpp"
#include "lib/wire/key_list_messages.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// The limit of a rule that came closest to what is promised; all 0: workers share none of them.
struct OvershootStats {
    std::uint64_t max_unsynced = 0;
    std::uint64_t promised = 0;  // units beyond the limit's own bound
    std::uint64_t measured = 0;  // since the start

    static void fields(auto& archive, auto& m) { serialize_rows(archive, m); }
};

template <>
inline constexpr auto kStatRows<OvershootStats> = std::tuple{
    StatRow{&OvershootStats::max_unsynced,
            {"max_unsynced"},
            {"sluice_rule_max_unsynced_units",
             "What a worker may have charged beyond the last total it holds of a key."}},
    StatRow{&OvershootStats::promised,
            {"promised_overshoot"},
            {"sluice_rule_promised_overshoot_units",
             "What a key may be admitted beyond its limit, at most, since workers share it."}},
    StatRow{&OvershootStats::measured,
            {"measured_overshoot"},
            {"sluice_rule_measured_overshoot_units",
             "The most by which the total of a key was seen beyond its limit."}},
};

struct RuleStats {
    std::string id;
    RuleCounts counts{};
    // Now, of its limit that counts most; nullopt: none of its limits counts open connections.
    std::optional<std::uint64_t> open_connections{};
    // Keys that its limits refuse now, each once for a limit and a worker; nullopt: it has none of
    // the events by which workers know.
    std::optional<std::uint64_t> limited_now{};
    OvershootStats overshoot{};
    std::uint64_t entries = 0;         // in the tables of all workers
    std::vector<LimitStats> limits{};  // empty: it has one

    static void fields(auto& archive, auto& m) {
        archive(m.id);
        serialize_rows(archive, m.counts);
        archive(m.open_connections, m.limited_now, m.overshoot, m.entries, m.limits);
    }
};

}  // namespace sluice
