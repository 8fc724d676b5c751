#include "control/daemon/cluster/box_watch.hpp"

#include <fmt/format.h>

#include <utility>

namespace sluice {
namespace {

ClusterEventKind kind_of(Membership membership, Membership before) {
    switch (membership) {
        case Membership::Away:
            return ClusterEventKind::EtcdDown;
        case Membership::Member:
            return before == Membership::Away ? ClusterEventKind::EtcdUp
                                              : ClusterEventKind::BoxJoined;
        default:
            return ClusterEventKind::BoxLeft;
    }
}

std::string by_text(const HeadSet& set) {
    return set.by.empty() ? "" : "by " + set.by;
}

}  // namespace

void BoxWatch::see(const FleetStatus& status, std::optional<bool> passes, Clock::time_point now,
                   std::int64_t utc_ns) {
    see_place(status, now, utc_ns);
    const NodeRecord& record = status.record;
    if (record.rules.empty()) {
        return;  // nobody has filled it yet
    }
    const NodeRecord before = std::exchange(before_, record).value_or(record);
    see_rollout(before, record, utc_ns);
    if (record.panic != before.panic && record.panic != 0 && !passes) {
        before_->panic = before.panic;  // what it was is told once the dataplane says so
    } else if (record.panic != before.panic && record.panic != 0) {
        log_.add(
            {.kind = *passes ? ClusterEventKind::ClusterPanic : ClusterEventKind::ClusterResumed,
             .utc_ns = utc_ns});
    }
    if (is_detached_.turns(record.is_detached, now)) {
        log_.add(
            {.kind = record.is_detached ? ClusterEventKind::Drift : ClusterEventKind::DriftOver,
             .utc_ns = utc_ns,
             .generation = record.in_force.generation});
    }
}

void BoxWatch::see_place(const FleetStatus& status, Clock::time_point now, std::int64_t utc_ns) {
    if (status.membership == Membership::Joining || !place_.turns(status.membership, now)) {
        return;
    }
    const ClusterEventKind kind =
        kind_of(status.membership, std::exchange(place_before_, status.membership));
    log_.add({.kind = kind,
              .utc_ns = utc_ns,
              .why = kind == ClusterEventKind::BoxJoined
                         ? fmt::format("slot {}", status.record.slot)
                         : status.why});
}

// A trial that has ended is followed by what is in force then.
void BoxWatch::see_rollout(const NodeRecord& before, const NodeRecord& record,
                           std::int64_t utc_ns) {
    const auto tell = [&](ClusterEventKind kind, const HeadSet& set, const std::string& why) {
        log_.add({.kind = kind, .utc_ns = utc_ns, .why = why, .generation = set.generation});
    };
    if (record.staged.rollout != before.staged.rollout && !record.staged.rollout.empty()) {
        tell(record.staged.is_good ? ClusterEventKind::RolloutStaged
                                   : ClusterEventKind::RolloutRefused,
             {}, record.staged.why);
    }
    if (record.failed != before.failed && record.failed != 0) {
        tell(ClusterEventKind::RolloutRefused, {.generation = record.failed}, record.error);
    }
    if (record.is_trial && (!before.is_trial || record.in_force != before.in_force)) {
        tell(ClusterEventKind::RolloutTrial, record.in_force, by_text(record.in_force));
    } else if (!record.is_trial && before.is_trial && record.in_force != before.in_force) {
        tell(ClusterEventKind::RolloutEnded, before.in_force, by_text(before.in_force));
    } else if (!record.is_trial && record.in_force.generation != 0 &&
               (before.is_trial || record.in_force != before.in_force)) {
        tell(ClusterEventKind::RolloutPromoted, record.in_force, by_text(record.in_force));
    }
}

void BoxWatch::see(const FleetReading& reading, std::int64_t utc_ns) {
    if (!reading.was_read || !reading.problem.empty()) {
        return;
    }
    std::set<std::string> members;
    for (const NodeRecord& node : reading.nodes) {
        if (!node.node.empty() && node.node != node_) {
            members.insert(node.node);
        }
    }
    const std::set<std::string> before = std::exchange(members_, members).value_or(members);
    const auto tell = [&](ClusterEventKind kind, const std::set<std::string>& in,
                          const std::set<std::string>& not_in) {
        for (const std::string& node : in) {
            if (!not_in.contains(node)) {
                log_.add({.kind = kind, .utc_ns = utc_ns, .node = node});
            }
        }
    };
    tell(ClusterEventKind::MemberJoined, members, before);
    tell(ClusterEventKind::MemberLeft, before, members);
}

}  // namespace sluice
