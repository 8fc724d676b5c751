#pragma once
#include "lib/policy/rules/action_reader.hpp"
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace sluice {

// How many refusals a ban may be made to wait for: a key that has not come so far takes some 21
// bytes for each.
inline constexpr std::uint64_t kMostRefusals = 65'536;

// One grouping key of the rule that bans.
struct BanKey {
    std::string schema;
    std::string position;  // `t2.` in tiers
};

struct ReadBan {
    Ban ban;            // without boxes when something is wrong, or nothing is banned
    ActionText action;  // for Ban::action to name
    std::string text;   // "after 3 refusals within 10m, for 1h: drop"
};

// `ban` of the rule called `rule`, with one box for each of its keys.
[[nodiscard]] ReadBan read_ban(const YamlNode& node, std::string_view rule,
                               std::span<const BanKey> keys, const ReadContext& context);

}  // namespace sluice
