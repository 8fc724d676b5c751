#pragma once
#include "control/daemon/dataplane_link.hpp"
#include "control/daemon/rule_keeper.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace sluice {

// Keeps the connection to the dataplane, and the two of us agreed on the rules.
class LinkKeeper {
public:
    using Clock = std::chrono::steady_clock;

    // `first_rules`: a rule file to apply where neither side has rules. Empty: none.
    LinkKeeper(DataplaneLink& link, RuleKeeper& rules, const std::string& first_rules);

    // To be called often: looks after the connection, tries anew when it is gone, and keeps
    // the deadline of rules on trial.
    void tick(Clock::time_point now);

private:
    void load_first_rules(const std::string& path);
    [[nodiscard]] bool apply_first_rules();

    DataplaneLink& link_;
    RuleKeeper& rules_;
    std::optional<RuleFile> first_rules_;
    bool agreed_ = false;
    std::string told_;  // why there is no dataplane, as it was said last; empty: there is one
    Clock::time_point retry_at_{};
    Clock::time_point ping_at_{};
    Clock::time_point there_at_{};  // the dataplane, last
    Clock::time_point look_at_{};   // for one that has been away for long
};

}  // namespace sluice
