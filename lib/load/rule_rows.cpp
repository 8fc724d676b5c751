#include "lib/load/rule_rows.hpp"

#include <utility>

namespace sluice {

RuleRows::RuleRows() {
    for (std::uint32_t row = 0; row < kMaxRules; ++row) {
        free_.push_back(row);
    }
}

void RuleRows::assign(LoadedSet& set, const ReadRow& read) {
    std::map<std::string, Row> next;
    for (const LoadedRule& rule : set.rules) {
        const auto old = by_id_.find(rule.id);
        if (old != by_id_.end()) {
            next.insert(by_id_.extract(old));
        }
    }
    // At the back of the queue, so that a worker that has not adopted the new set yet writes to a
    // row that stays unread for a while.
    for (const auto& [id, row] : by_id_) {
        free_.push_back(row.index);
    }
    for (LoadedRule& rule : set.rules) {
        auto row = next.find(rule.id);
        if (row == next.end()) {
            const std::uint32_t index = free_.front();
            free_.pop_front();
            row = next.emplace(rule.id, Row{index, read(index)}).first;
        }
        rule.counters = row->second.index;
    }
    by_id_ = std::move(next);
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
