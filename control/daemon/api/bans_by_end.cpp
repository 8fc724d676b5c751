#include "control/daemon/api/bans_by_end.hpp"

#include "control/daemon/api/banned_networks.hpp"
#include "lib/base/whole_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <queue>
#include <unordered_map>

namespace sluice {
namespace {

constexpr std::int64_t kForGood = std::numeric_limits<std::int64_t>::max();

// The soonest of those that were offered, at most so many.
class Soonest {
public:
    Soonest(const BanEnd& behind, std::size_t most) : behind_{behind}, most_{most} {}

    [[nodiscard]] bool would_take(const BanEnd& one) const {
        return one > behind_ && (kept_.size() < most_ || one < kept_.top());
    }
    void take(const BanEnd& one) {
        if (kept_.size() == most_) {
            kept_.pop();
        }
        kept_.push(one);
    }
    [[nodiscard]] std::vector<BanEnd> in_order() && {
        std::vector<BanEnd> ends(kept_.size());
        for (std::size_t i = ends.size(); i-- > 0; kept_.pop()) {
            ends[i] = kept_.top();
        }
        return ends;
    }

private:
    BanEnd behind_;
    std::size_t most_;
    std::priority_queue<BanEnd> kept_;
};

void add_set_bans(const RuleView& view, const BanWords& words, Soonest& soonest) {
    std::unordered_map<std::string_view, std::uint32_t> places;
    for (std::uint32_t rule = 0; rule < view.rules.size(); ++rule) {
        places.emplace(view.rules[rule].id, rule);
    }
    for (std::size_t i = 0; i < view.keys.size(); ++i) {
        const KeySetting& one = view.keys[i];
        const auto found = places.find(one.rule);
        if (found == places.end() || !words.wants(view.rules[found->second]) ||
            !is_ban_of(one, view.rules[found->second])) {
            continue;
        }
        const BanEnd end{one.until == 0 ? kForGood : one.until,
                         static_cast<std::uint32_t>(BanSource::Operator), found->second, i};
        if (soonest.would_take(end) && words.wants(one.key, one.reason)) {
            soonest.take(end);
        }
    }
}

void add_policy_bans(const RuleView& view, const BanWords& words, std::int64_t now,
                     Soonest& soonest) {
    for (std::size_t rule = 0; rule < view.rules.size(); ++rule) {
        const RuleSummary& row = view.rules[rule];
        if (row.banned == nullptr || !words.wants(row)) {
            continue;
        }
        for (std::size_t i = 0; i < row.banned->size(); ++i) {
            const BannedKey& ban = (*row.banned)[i];
            const std::int64_t until = end_of(ban);
            const BanEnd end{until == 0 ? kForGood : until,
                             static_cast<std::uint32_t>(BanSource::Policy),
                             static_cast<std::uint32_t>(rule), i};
            if (end.until > now && soonest.would_take(end) &&
                (words.filter.empty() || words.wants(text_of_banned(ban), reason_of(ban)))) {
                soonest.take(end);
            }
        }
    }
}

Json ban_at(const RuleView& view, const BanEnd& end) {
    const RuleSummary& rule = view.rules[end.rule];
    if (end.source == static_cast<std::uint32_t>(BanSource::Operator)) {
        return set_ban_json(rule, view.keys[end.place]);
    }
    const BannedKey& ban = (*rule.banned)[end.place];
    return policy_ban_json(rule, ban, text_of_banned(ban));
}

}  // namespace

std::string text_of(const BanEnd& end) {
    return fmt::format("end:{}:{}:{}:{}", end.until, end.source, end.rule, end.place);
}

std::optional<BanEnd> read_ban_end(std::string_view text) {
    constexpr std::string_view kBegin = "end:";
    if (text.empty()) {
        return BanEnd{};
    }
    if (!text.starts_with(kBegin)) {
        return std::nullopt;
    }
    text.remove_prefix(kBegin.size());
    std::array<std::uint64_t, 4> numbers{};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::size_t colon = text.find(':');
        const bool is_last = i + 1 == numbers.size();
        const auto number = whole_number(text.substr(0, colon));
        if (!number || (colon == std::string_view::npos) != is_last) {
            return std::nullopt;
        }
        numbers[i] = *number;
        text.remove_prefix(is_last ? 0 : colon + 1);
    }
    return BanEnd{static_cast<std::int64_t>(std::min<std::uint64_t>(numbers[0], kForGood)),
                  static_cast<std::uint32_t>(numbers[1]), static_cast<std::uint32_t>(numbers[2]),
                  numbers[3]};
}

std::vector<BanEnd> soonest_to_end(const RuleView& view, const BanWords& words,
                                   const BanEnd& behind, std::int64_t now) {
    Soonest soonest{behind, words.page.most};
    if (words.wants(BanSource::Operator)) {
        add_set_bans(view, words, soonest);
    }
    if (words.wants(BanSource::Policy)) {
        add_policy_bans(view, words, now, soonest);
    }
    return std::move(soonest).in_order();
}

HttpResponse bans_by_end(const RuleView& view, const BanWords& words) {
    const std::optional<BanEnd> behind = read_ban_end(words.page.after);
    if (!behind) {
        return bad_page("of the same `sort`");
    }
    const std::vector<BanEnd> ends = soonest_to_end(view, words, *behind, utc_seconds());
    Json bans = Json::array();
    for (const BanEnd& end : ends) {
        bans.push_back(ban_at(view, end));
    }
    const bool may_go_on = ends.size() == words.page.most;
    return json_response({{"generation", generation_text(view.generation)},
                          {"bans", std::move(bans)},
                          {"boxes_read", false},
                          {"next", may_go_on ? Json(text_of(ends.back())) : Json()}});
}

}  // namespace sluice
