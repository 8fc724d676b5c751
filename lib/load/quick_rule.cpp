#include "lib/load/quick_rule.hpp"

#include "lib/load/loaded_set.hpp"
#include "lib/meter/group_key.hpp"
#include "lib/rules/group.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>

namespace sluice {
namespace {

// Which of a flow's addresses is the key, by where it stands.
std::optional<std::uint8_t> address_of(const LoadedRule& rule) noexcept {
    if (rule.keys.front().size() != 1 || rule.keys.front().front().text ||
        rule.limits.front().per == Per::Connection || rule.cost != 1) {
        return std::nullopt;
    }
    switch (rule.keys.front().front().field) {
        case Field::IpSrc:
        case Field::ClientIp:  // of an IPv4 address the same
            return offsetof(Flow, src);
        case Field::IpDst:
            return offsetof(Flow, dst);
        default:
            return std::nullopt;
    }
}

void fill_key(const LoadedRule& rule, QuickRule& quick) noexcept {
    const KeyPart& part = rule.keys.front().front();
    const LoadedLimit& limit = rule.limits.front();
    quick.v4 = IpVersion::V4;
    quick.v4_header = address_header(part, IpVersion::V4);
    quick.v4_mask = static_cast<std::uint32_t>(kFirstBits[part.v4_length]);
    if (part.field != Field::ClientIp) {  // which may have another address inside
        quick.v6 = IpVersion::V6;
        quick.v6_header = address_header(part, IpVersion::V6);
        quick.v6_mask = {kFirstBits[std::min<unsigned>(part.v6_length, 64)],
                         kFirstBits[part.v6_length < 64 ? 0 : part.v6_length - 64]};
    }
    quick.start = KeyHasher::start_of(limit.identity);
    quick.per_byte = limit.per == Per::Byte;
}

// What is as it would be without overrides is asked for behind them.
void set_apart(const LoadedRule& rule, QuickRule& quick) noexcept {
    const bool is_known =
        quick.plain && rule.limits.front().overridden && !rule.override_tables.empty();
    quick.overrides = is_known ? rule.override_tables.front().get() : nullptr;
    quick.overridden_v4 = std::exchange(quick.v4, QuickRule::kNoPacket);
    quick.overridden_v6 = std::exchange(quick.v6, QuickRule::kNoPacket);
    quick.plain = false;
    quick.max_unsynced = 0;
}

QuickRule quick_rule(const LoadedRule& rule) noexcept {
    QuickRule quick;
    if (rule.on_match != OnMatch::Meter || rule.limits.size() != 1 || rule.bans()) {
        return quick;
    }
    if (const std::optional<std::uint8_t> address = address_of(rule)) {
        quick.address_at = *address;
        fill_key(rule, quick);
    }
    const auto* bucket = std::get_if<TokenBucketLimit>(&rule.limits.front().limit);
    quick.version = rule.limits.front().version;
    quick.slot = rule.limits.front().slot;
    if (rule.mode == Mode::Enforce && !rule.rejected_spend && bucket != nullptr) {
        const std::uint64_t shared = rule.limits.front().shared;
        quick.limit = bucket->gcra;
        quick.plain = shared == 0 && !rule.limits.front().moving;
        quick.max_unsynced = static_cast<std::uint32_t>(shared);  // at most 2^30
    }
    quick.opens_freely = rule.table_share == kWholeTable && rule.limits.front().moved_from.empty();
    quick.counters = rule.counters;
    quick.on_exceed = rule.on_exceed;
    quick.tag = &rule.tag;
    if (rule.overrides != nullptr) {
        set_apart(rule, quick);
    }
    return quick;
}

// By which every packet of an IPv4 address goes.
bool has_short_way(const QuickRule& quick) noexcept {
    const bool is_quick = quick.plain || quick.max_unsynced != 0;
    return (is_quick && quick.v4 == IpVersion::V4) ||
           (quick.overrides != nullptr && quick.overridden_v4 == IpVersion::V4);
}

}  // namespace

void list_quick_rules(LoadedSet& set) {
    set.quick.clear();
    set.has_overrides = false;
    for (const LoadedRule& rule : set.rules) {
        const QuickRule& quick = set.quick.emplace_back(quick_rule(rule));
        set.has_overrides = set.has_overrides || quick.overrides != nullptr;
    }
    set.only_quick = set.quick.size() == 1 && has_short_way(set.quick.front()) &&
                     set.classifier->asks_nothing() && set.classifier->always().size() == 1;
}

}  // namespace sluice
