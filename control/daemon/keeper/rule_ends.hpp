#pragma once
#include "control/daemon/keeper/live_rules.hpp"

#include <cstdint>

namespace sluice {

// Takes out the rules whose ttl has run out, and settings of keys that were made for a while.
class RuleEnds {
public:
    explicit RuleEnds(LiveRules& rules) noexcept : rules_{rules} {}

    // To be called often, from one thread.
    void tick();

private:
    void end_due(std::int64_t now);

    LiveRules& rules_;
    std::int64_t retry_at_ = 0;  // when a rule could not be taken out
};

}  // namespace sluice
