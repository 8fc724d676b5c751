#include "control/daemon/keeper/rule_ends.hpp"

#include <spdlog/spdlog.h>

namespace sluice {
namespace {

constexpr std::int64_t kRetryEnd = 5;  // s

}  // namespace

void RuleEnds::tick() {
    const std::shared_ptr<const RuleView> shown = rules_.board.view();
    const std::int64_t now = rules_.applied.now();
    const std::optional<std::int64_t> due = next_end(shown->rules, shown->lives);
    if (((due && *due <= now) || any_ended(shown->keys, now)) && rules_.link.status().connected) {
        end_due(now);
    }
}

// The dataplane heeds a setting until its end by itself; here it makes room for what the files say
// of the key.
void RuleEnds::end_due(std::int64_t now) {
    if (now < retry_at_) {
        return;
    }
    const RuleChange change = rules_.change_unstamped([](StoredRules&) { return std::nullopt; });
    if (change.refusal) {
        retry_at_ = rules_.applied.now() + kRetryEnd;
        spdlog::warn("a rule or a setting whose time has run out is still there: {}",
                     change.refusal->what);
    }
}

}  // namespace sluice
