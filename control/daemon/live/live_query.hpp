#pragma once
#include "control/daemon/live/snapshot.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// Columns of the rules, as `sort` names them.
enum class LiveColumn : std::uint8_t {
    Id,
    Mode,
    State,
    Matched,
    MatchedBits,
    Refused,
    WouldRefuse,
    LiveKeys,
    LimitedNow,
    TableShare,
    Placement,
};
inline constexpr auto kLiveColumnNames = std::to_array<std::string_view>(
    {"id", "mode", "state", "matched_pps", "matched_bps", "refused_pps", "would_refuse_pps",
     "live_keys", "limited_now", "table_share", "placement"});
[[nodiscard]] std::optional<LiveColumn> live_column(std::string_view name) noexcept;
// A column of texts, which is read from A on.
[[nodiscard]] bool is_text(LiveColumn column) noexcept;

inline constexpr std::size_t kMostLiveRules = 256;   // of one answer
inline constexpr std::size_t kMostLiveFilter = 128;  // bytes
inline constexpr std::size_t kBusiestLiveRules = 5;  // of the overview

// The rules that an answer shows, and in which order.
struct LiveQuery {
    LiveColumn sort = LiveColumn::Matched;
    bool descending = true;
    std::string filter{};  // a part of the id, in any case of letters
    std::string id{};      // that rule and its candidates alone; empty: all rules
    std::size_t first = 0;
    std::size_t most = kBusiestLiveRules;
    std::string tenant{};  // whose people ask, and are shown its rules alone; empty: operators

    // Names of the order and of the page of it: equal for equal questions.
    [[nodiscard]] std::string order_key() const;
    [[nodiscard]] std::string page_key() const;
};

// Places of the rules that match the filter, in the order asked for; those without a number there
// stand last either way, and equal ones as in the file.
[[nodiscard]] std::vector<std::uint32_t> ordered_rules(const std::vector<LiveRule>& rules,
                                                       const LiveQuery& query);

}  // namespace sluice
