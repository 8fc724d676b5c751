#include "control/daemon/live/live_query.hpp"

#include "lib/rules/tenant_name.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

char letter_lowered(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool has_in_any_case(std::string_view text, std::string_view part) noexcept {
    return std::search(text.begin(), text.end(), part.begin(), part.end(), [](char a, char b) {
               return letter_lowered(a) == letter_lowered(b);
           }) != text.end();
}

bool is_of(std::string_view id, std::string_view rule) noexcept {
    return id.empty() ||
           (rule.starts_with(id) && (rule.size() == id.size() || rule[id.size()] == '.'));
}

bool is_shown_to(std::string_view tenant, std::string_view rule) noexcept {
    return tenant.empty() || tenant_of(rule) == tenant;
}

LiveRate rate_of(const std::optional<std::uint64_t>& count) noexcept {
    return count ? LiveRate{static_cast<double>(*count)} : std::nullopt;
}

// The number of a column; nullopt: nobody has it.
LiveRate number_of(const LiveRule& rule, LiveColumn column) noexcept {
    switch (column) {
        case LiveColumn::Mode:
            return static_cast<double>(rule.mode);
        case LiveColumn::Matched:
            return rule.matched.pps;
        case LiveColumn::MatchedBits:
            return rule.matched.bps;
        case LiveColumn::Refused:
            return rule.refused;
        case LiveColumn::WouldRefuse:
            return rule.would_refuse.pps;
        case LiveColumn::LiveKeys:
            return rate_of(rule.live_keys);
        case LiveColumn::LimitedNow:
            return rate_of(rule.limited_now);
        case LiveColumn::TableShare:
            return rule.table_share;
        default:
            return std::nullopt;
    }
}

std::string_view text_of(const LiveRule& rule, LiveColumn column) noexcept {
    return column == LiveColumn::Id      ? std::string_view{rule.id}
           : column == LiveColumn::State ? rule.state
                                         : rule.placement;
}

void sort_by_text(const std::vector<LiveRule>& rules, const LiveQuery& query,
                  std::vector<std::uint32_t>& places) {
    std::ranges::stable_sort(places, [&](std::uint32_t a, std::uint32_t b) {
        const std::string_view one = text_of(rules[a], query.sort);
        const std::string_view other = text_of(rules[b], query.sort);
        return query.descending ? other < one : one < other;
    });
}

void sort_by_number(const std::vector<LiveRule>& rules, const LiveQuery& query,
                    std::vector<std::uint32_t>& places) {
    std::ranges::stable_sort(places, [&](std::uint32_t a, std::uint32_t b) {
        const LiveRate one = number_of(rules[a], query.sort);
        const LiveRate other = number_of(rules[b], query.sort);
        if (!one || !other) {
            return one.has_value() && !other.has_value();
        }
        return query.descending ? *other < *one : *one < *other;
    });
}

}  // namespace

std::optional<LiveColumn> live_column(std::string_view name) noexcept {
    const auto found = std::ranges::find(kLiveColumnNames, name);
    return found == kLiveColumnNames.end()
               ? std::nullopt
               : std::optional{static_cast<LiveColumn>(found - kLiveColumnNames.begin())};
}

bool is_text(LiveColumn column) noexcept {
    return column == LiveColumn::Id || column == LiveColumn::State ||
           column == LiveColumn::Placement;
}

std::string LiveQuery::order_key() const {
    // No name of a tenant has a blank; what was asked for as an id may have any byte.
    return fmt::format("{} {} {} {} {}{}", tenant, static_cast<int>(sort), descending ? 1 : 0,
                       id.size(), id, filter);
}

std::string LiveQuery::page_key() const {
    return fmt::format("{} {} {}", first, most, order_key());
}

std::vector<std::uint32_t> ordered_rules(const std::vector<LiveRule>& rules,
                                         const LiveQuery& query) {
    std::vector<std::uint32_t> places;
    const bool all = query.filter.empty() && query.id.empty() && query.tenant.empty();
    places.reserve(all ? rules.size() : 0);
    for (std::size_t i = 0; i < rules.size(); ++i) {
        if (is_shown_to(query.tenant, rules[i].id) && is_of(query.id, rules[i].id) &&
            (query.filter.empty() || has_in_any_case(rules[i].id, query.filter))) {
            places.push_back(static_cast<std::uint32_t>(i));
        }
    }
    if (is_text(query.sort)) {
        sort_by_text(rules, query, places);
    } else {
        sort_by_number(rules, query, places);
    }
    return places;
}

}  // namespace sluice
