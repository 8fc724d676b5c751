#pragma once
#include "control/fleet/fleet_records.hpp"
#include "lib/base/result.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// The pause between two reads of the boxes' records.
inline constexpr std::chrono::milliseconds kRolloutPoll{50};

// The rollout names the box.
[[nodiscard]] inline bool is_meant(const Rollout& rollout, const NodeRecord& node) {
    return rollout.is_everywhere ||
           std::ranges::find(rollout.nodes, node.node) != rollout.nodes.end();
}

// The set is what the box has in force, on trial or for good.
[[nodiscard]] inline bool runs(const NodeRecord& node, const HeadSet& set) {
    return node.in_force == set && !node.is_detached;
}

// etcd did not answer: it may, the next time.
[[nodiscard]] inline bool is_away(const Error& error) {
    return error.code == Errc::Unreachable || error.code == Errc::Busy;
}

[[nodiscard]] inline Error rollout_ended() {
    return {Errc::Refused, "the rollout was ended by somebody else, or its lease was over"};
}

// The box has tried, and could not.
[[nodiscard]] inline bool has_failed(const NodeRecord& node, const HeadSet& set) {
    return node.failed == set.generation;
}

// The box's problem; empty: none that it knows of.
[[nodiscard]] inline std::string problem_of(const NodeRecord& node) {
    if (node.error.empty() && node.is_dataplane_away) {
        return "its dataplane is away";
    }
    return node.error.empty() ? node.settings_error : node.error;
}

// A word for what a box does, beside what all are to run.
[[nodiscard]] inline std::string_view rules_word(const NodeRecord& node,
                                                 const std::optional<HeadSet>& head) {
    if (node.is_dataplane_away) {
        return "no dataplane";
    }
    if (node.is_panic) {
        return "PANIC";
    }
    if (node.is_detached) {
        return "detached";
    }
    if (node.is_trial) {
        return "trial";
    }
    if (!head || node.in_force == *head) {
        return head ? "in force" : "none";
    }
    return "differs";
}

// The box, and why it does not run what others do, as far as it says.
[[nodiscard]] inline std::string why_behind(const NodeRecord& node) {
    const std::string why = problem_of(node);
    return node.node + (why.empty() ? "" : ": " + why);
}

}  // namespace sluice
