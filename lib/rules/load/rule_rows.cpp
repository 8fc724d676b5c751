#include "lib/rules/load/rule_rows.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace sluice {
namespace {

std::vector<std::string> names_of(const LoadedRule& rule) {
    std::vector<std::string> names;
    for (const LoadedLimit& limit : rule.limits) {
        names.push_back(limit.name);
    }
    return names;
}

RuleTotals since(RuleTotals totals, const RuleTotals& before) {
    for_each_stat_row<RuleCounts>(
        [&](const auto& row) { totals.counts.*row.member -= before.counts.*row.member; });
    for (std::size_t i = 0; i < totals.refused.size(); ++i) {
        totals.refused[i] -= before.refused[i];
    }
    return totals;
}

}  // namespace

RuleRows::RuleRows() {
    for (std::uint32_t row = 0; row < kMaxRules; ++row) {
        free_.push_back(row);
    }
}

void RuleRows::assign(LoadedSet& set, const ReadRow& read) {
    note_gone(set);
    for (LoadedRule& rule : set.rules) {
        auto row = by_id_.find(rule.id);
        if (row == by_id_.end()) {
            const std::uint32_t index = take_row();
            row = by_id_.emplace(rule.id, Row{index, read(index), names_of(rule)}).first;
        }
        adopt_limits(rule, row->second, read);
        rule.counters = row->second.index;
    }
}

// A rule with other limits than before counts all of them from now on.
void RuleRows::adopt_limits(const LoadedRule& rule, Row& row, const ReadRow& read) {
    std::vector<std::string> names = names_of(rule);
    if (names != row.limits) {
        row.before.refused = read(row.index).refused;
        row.limits = std::move(names);
    }
}

void RuleRows::note_gone(const LoadedSet& set) {
    std::set<std::string> here;
    for (const LoadedRule& rule : set.rules) {
        here.insert(rule.id);
    }
    std::erase_if(gone_, [&](const std::string& id) { return here.contains(id); });
    const std::set<std::string> known(gone_.begin(), gone_.end());
    for (const auto& [id, row] : by_id_) {
        if (!here.contains(id) && !known.contains(id)) {
            gone_.push_back(id);
        }
    }
}

// The longest unused, so that a worker that has not adopted the new set yet writes to a row that
// stays unread for a while.
std::uint32_t RuleRows::take_row() {
    if (!free_.empty()) {
        const std::uint32_t index = free_.front();
        free_.pop_front();
        return index;
    }
    const auto oldest = by_id_.find(gone_.front());
    const std::uint32_t index = oldest->second.index;
    by_id_.erase(oldest);
    gone_.pop_front();
    return index;
}

RuleTotals RuleRows::totals(const LoadedRule& rule, const ReadRow& read) const {
    const auto row = by_id_.find(rule.id);
    return row == by_id_.end() ? RuleTotals{} : since(read(row->second.index), row->second.before);
}

}  // namespace sluice
