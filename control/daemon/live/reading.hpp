#pragma once
#include "control/daemon/live/snapshot.hpp"
#include "control/daemon/rule_change.hpp"
#include "lib/wire/message.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// Counters of one instant, and who counts.
struct Reading {
    Stats stats;
    std::uint32_t pid = 0;     // of the dataplane
    std::uint64_t origin = 0;  // of its events: another one for each start
    std::shared_ptr<const RuleView> view;
};

// The time between two readings; none where a dataplane has started in between.
[[nodiscard]] ReadingTime time_between(const Reading* before, const Reading& now) noexcept;

// Rows of the rules in force, in the order of the file; with `now` nullptr nobody counts.
[[nodiscard]] std::vector<LiveRule> live_rules(const Reading* before, const Reading* now,
                                               const RuleView& view);
[[nodiscard]] std::vector<LivePort> live_ports(const Reading* before, const Reading& now);
// Sums over workers; what would be refused is the sum over `rules`, and of services.
[[nodiscard]] std::optional<LiveRates> live_rates(const Reading* before, const Reading& now,
                                                  const std::vector<LiveRule>& rules);

}  // namespace sluice
