#pragma once
#include "control/daemon/audit.hpp"
#include "control/daemon/dataplane_link.hpp"
#include "control/daemon/list_watch.hpp"
#include "control/daemon/rule_keeper.hpp"

#include <chrono>
#include <cstdint>

namespace sluice {

// Brings lists into force when their files change.
class ListKeeper {
public:
    using Clock = std::chrono::steady_clock;

    ListKeeper(DataplaneLink& link, RuleKeeper& rules, Audit& audit)
        : link_{link}, rules_{rules}, audit_{audit} {}

    // To be called now and then.
    void tick(Clock::time_point now);

private:
    void record(const RuleChange& change);

    DataplaneLink& link_;
    RuleKeeper& rules_;
    Audit& audit_;
    ListWatch watch_;
    std::uint64_t returns_ = 0;  // that have been looked at
    bool due_ = false;
    Clock::time_point retry_at_{};
};

}  // namespace sluice
