#pragma once
#include "control/daemon/api/ban_rows.hpp"

#include <compare>

namespace sluice {

// A ban in the order of ends: those for good behind all others, of one second the operators' first.
struct BanEnd {
    std::int64_t until = 0;  // UTC seconds; for good: the greatest number
    std::uint32_t source = 0;
    std::uint32_t rule = 0;   // its place among the rules
    std::uint64_t place = 0;  // its place among what is set, or in its rule's file

    friend auto operator<=>(const BanEnd&, const BanEnd&) = default;
};

[[nodiscard]] std::string text_of(const BanEnd& end);
[[nodiscard]] std::optional<BanEnd> read_ban_end(std::string_view text);

// At most `words.page.most` bans of operators and files behind that one, the soonest to end first;
// one pass over all of them, whatever their number. The last of them is where the next page goes
// on.
[[nodiscard]] std::vector<BanEnd> soonest_to_end(const RuleView& view, const BanWords& words,
                                                 const BanEnd& behind, std::int64_t now);

// The page of GET /v1/bans?sort=end.
[[nodiscard]] HttpResponse bans_by_end(const RuleView& view, const BanWords& words);

}  // namespace sluice
