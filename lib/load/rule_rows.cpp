#include "lib/load/rule_rows.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace sluice {

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
            row = by_id_.emplace(rule.id, Row{index, read(index)}).first;
        }
        rule.counters = row->second.index;
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
    if (row == by_id_.end()) {
        return {};
    }
    const RuleTotals now = read(row->second.index);
    const RuleTotals& before = row->second.before;
    return {now.admitted - before.admitted,
            now.exceeded - before.exceeded,
            now.skipped - before.skipped,
            now.exempted - before.exempted,
            now.banned - before.banned,
            now.bans - before.bans,
            now.early_dropped - before.early_dropped};
}

}  // namespace sluice
