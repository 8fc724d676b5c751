#include "control/daemon/keeper/ended_rules.hpp"

#include <spdlog/spdlog.h>

#include <utility>

namespace sluice {

void EndedRules::add(const StoredRules& before, const StoredRules& after) {
    for (const auto& [id, life] : after.lives) {
        const auto old = before.lives.find(id);
        if (life.ended && old != before.lives.end() && !old->second.ended) {
            spdlog::info("the rule {} has ended: its ttl has run out", id);
            const std::lock_guard lock{mutex_};
            ended_.push_back({id, before.generation, after.generation});
        }
    }
}

std::vector<EndedRule> EndedRules::take() {
    const std::lock_guard lock{mutex_};
    return std::exchange(ended_, {});
}

}  // namespace sluice
