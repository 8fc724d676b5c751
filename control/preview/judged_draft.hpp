#pragma once
#include "control/json.hpp"
#include "control/preview/draft_rules.hpp"
#include "lib/base/units.hpp"
#include "lib/watch/trace/preview_record.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace sluice {

// A group, with what it offered and was refused, in the unit of the draft's first limit.
struct JudgedGroup {
    std::uint64_t digest = 0;
    std::uint64_t offered = 0;
    std::uint64_t refused = 0;

    [[nodiscard]] bool operator==(const JudgedGroup&) const noexcept = default;
};

// A draft judged over the packets of the groups that were watched.
struct JudgedDraft {
    std::uint64_t packets = 0;
    std::uint64_t offered = 0;
    std::uint64_t refused = 0;
    double refused_squares = 0;  // of what groups were refused, summed
    std::uint64_t groups = 0;
    std::uint64_t refused_groups = 0;
    std::vector<std::uint64_t> by_limit;  // refused by each, in its unit
    std::vector<JudgedGroup> most;        // refused, most first
    Json heatmaps = Json::array();
    std::uint64_t table_full = 0;  // packets let on since their groups found no room

    static constexpr std::size_t kMostGroups = 20;
};

// How much of a judgement may be done.
struct JudgingBounds {
    std::uint64_t frames = std::uint64_t{1} << 22;
    std::function<bool()> goes_on = [] { return true; };
};

// `records` in the order of their times, of one in 2^bits groups. nullopt: there is more than the
// bounds allow, or groups have no room in a draft of which fewer can be watched.
[[nodiscard]] std::optional<JudgedDraft> judge(const DraftRules& draft,
                                               std::span<const PreviewRecord> records,
                                               unsigned bits, const JudgingBounds& bounds = {});

}  // namespace sluice
