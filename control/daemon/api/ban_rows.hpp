#pragma once
#include "control/daemon/api/live_pages.hpp"
#include "control/daemon/rule_change.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Bans as GET /v1/bans lists them, and which of them a call wants.
namespace sluice {

enum class BanSource : std::uint8_t { Operator, Policy, Boxes };
inline constexpr std::string_view kBanSourceNames[] = {"operator", "policy", "penalty_box"};
[[nodiscard]] std::optional<BanSource> ban_source_named(std::string_view name);

// Words of a call.
struct BanWords {
    std::string rule;                 // empty: all
    std::optional<BanSource> source;  // nullopt: all
    std::string filter;               // a part of the key or of the reason; empty: any
    PageWords page;

    [[nodiscard]] bool wants(BanSource one) const { return !source || *source == one; }
    [[nodiscard]] bool wants(const RuleSummary& one) const {
        return rule.empty() || one.id == rule;
    }
    [[nodiscard]] bool wants(std::string_view key, std::string_view reason) const {
        return key.find(filter) != std::string_view::npos ||
               reason.find(filter) != std::string_view::npos;
    }
};

[[nodiscard]] std::int64_t utc_seconds();
// UTC seconds; 0: for good.
[[nodiscard]] std::int64_t end_of(const BannedKey& ban);
[[nodiscard]] std::string text_of_banned(const BannedKey& ban);
[[nodiscard]] bool is_ban_of(const KeySetting& setting, const RuleSummary& rule);

// A ban without its end. In a mode other than enforce, or while the rule is not active, it drops
// nothing.
[[nodiscard]] Json ban_json(BanSource source, const RuleSummary& rule, const std::string& key,
                            std::size_t tier);
[[nodiscard]] Json set_ban_json(const RuleSummary& rule, const KeySetting& setting);
[[nodiscard]] Json policy_ban_json(const RuleSummary& rule, const BannedKey& ban,
                                   const std::string& key);

}  // namespace sluice
