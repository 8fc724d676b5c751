#include "lib/match/rule_matches.hpp"

namespace sluice {

void RuleMatches::settle_texts(RowMask rows) noexcept {
    for (const RuleMatch& one : matched()) {
        hits_.add(one.rule, one.rows);
    }
    matched_count_ = 0;
    hits_.drain([&](std::uint32_t rule, RowMask matching) { add_matched(rule, matching); });

    const std::span<const RuleMatch> before = pending();
    pending_count_ = 0;
    for (const RuleMatch& one : before) {
        add_pending(one.rule, one.rows & ~rows);
    }
    pending_rows_ &= ~rows;
}

}  // namespace sluice
