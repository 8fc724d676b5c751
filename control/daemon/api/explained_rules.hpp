#pragma once
#include "control/daemon/rule_change.hpp"
#include "control/replay/replay_rules.hpp"
#include "lib/base/result.hpp"
#include "lib/rules/port_rss_mapping.hpp"

#include <chrono>
#include <memory>
#include <mutex>

namespace sluice {

// The rules in force with their conditions, which they are shown without: compiled once more, and
// kept while they are asked for. One set at most.
class ExplainedRules {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kKept{5};  // from the sweep after they were asked for

    // The rules of the view on a box. NoMemory: there is none to compile them; another Error: they
    // do not compile any more.
    [[nodiscard]] Result<std::shared_ptr<const ReplayRules>> of(
        const std::shared_ptr<const RuleView>& view, const RssMapping& box);

    // Forgets what is not in force any more, or was not asked for; to be called now and then. Does
    // not wait while rules are compiled.
    void sweep(const std::shared_ptr<const RuleView>& in_force, Clock::time_point now);

private:
    struct Kept {
        std::shared_ptr<const RuleView> view;  // never changed: other rules have another
        RssMapping box;
        std::shared_ptr<const ReplayRules> rules;
    };

    std::mutex mutex_;
    Kept kept_;
    bool was_asked_ = false;  // since the last sweep
    Clock::time_point until_{};
};

}  // namespace sluice
