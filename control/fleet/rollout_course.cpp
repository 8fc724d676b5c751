#include "control/fleet/fleet_operator.hpp"
#include "control/fleet/rollout_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

// The course of a rollout: what the operator waits for until the set may be the head.
namespace sluice {
namespace {

constexpr std::chrono::seconds kAliveEvery{3};
constexpr std::chrono::seconds kTrialSlack{120};
constexpr std::chrono::seconds kQuietStaging{3};

// A box that is to run the rollout, and does not.
struct Missing {
    std::string why;          // with its name
    bool has_failed = false;  // waiting is of no use
};

// `judges`: what it runs is to judge packets, as the boxes of a wave do.
std::optional<Missing> first_missing(const Rollout& rollout, const std::vector<NodeRecord>& nodes,
                                     bool judges) {
    for (const NodeRecord& node : nodes) {
        if (judges && node.is_panic && is_meant(rollout, node)) {
            return Missing{node.node + ": it is in panic, and judges nothing", true};
        }
        if (!is_meant(rollout, node) || (runs(node, rollout.next) && !node.is_dataplane_away)) {
            continue;
        }
        return Missing{why_behind(node), has_failed(node, rollout.next)};
    }
    for (const std::string& name : rollout.nodes) {
        if (std::ranges::find(nodes, name, &NodeRecord::node) == nodes.end()) {
            return Missing{name + ": it is gone", true};
        }
    }
    return std::nullopt;
}

}  // namespace

// True also where nobody answers.
bool FleetOperator::is_under_way(const Course& course) {
    const Result<EtcdRange> range = store_.etcd().get({.key = store_.keys().rollout()});
    return !range ||
           (!range->keys.empty() && range->keys.front().modified == course.rollout_modified);
}

Result<Done> FleetOperator::keep_alive(Course& course) {
    if (course.lease == 0 || Clock::now() - course.alive_at < kAliveEvery) {
        return Done{};
    }
    const Result<bool> alive = store_.etcd().keep_alive(course.lease);
    if (!alive) {
        return Done{};  // the lease tells
    }
    course.alive_at = Clock::now();
    return *alive && is_under_way(course) ? Result<Done>{Done{}} : rollout_ended();
}

// An etcd without an answer is asked again while the lease may hold.
Result<Done> FleetOperator::wait(Course& course, Clock::duration most, const Check& check) {
    const Clock::time_point end = Clock::now() + most;
    for (;;) {
        if (const Result<Done> alive = keep_alive(course); !alive) {
            return alive;
        }
        const Result<std::vector<NodeRecord>> nodes = members();
        const Clock::time_point now = Clock::now();
        if (nodes) {
            course.answered_at = now;
            if (const std::optional<Result<Done>> outcome = check(*nodes, now >= end)) {
                return *outcome;
            }
        } else if (!is_away(nodes.error()) || now - course.answered_at >= kLease) {
            return nodes.error();
        }
        std::this_thread::sleep_for(kRolloutPoll);
    }
}

Result<Done> FleetOperator::stage(Course& course) {
    const Clock::time_point patient_until = Clock::now() + kQuietStaging;
    bool has_reported = false;
    return wait(
        course, kStaging,
        [&](const std::vector<NodeRecord>& nodes, bool is_late) -> std::optional<Result<Done>> {
            std::vector<std::string> waited;
            for (const NodeRecord& node : nodes) {
                const bool has_verdict = node.staged.rollout == course.rollout.id;
                if (has_verdict && !node.staged.is_good) {
                    return Error{Errc::Refused, fmt::format("{} cannot run it, so nobody does: {}",
                                                            node.node, node.staged.why)};
                }
                if (!has_verdict) {
                    waited.push_back(why_behind(node));
                }
            }
            if (waited.empty()) {
                report_(fmt::format("staged by {} boxes", nodes.size()));
                return Done{};
            }
            if (is_late) {
                return Error{Errc::Busy, fmt::format("no verdict came from {}; nobody runs it",
                                                     fmt::join(waited, ", "))};
            }
            if (!has_reported && Clock::now() >= patient_until) {
                report_(fmt::format("waiting for {}", fmt::join(waited, ", ")));
                has_reported = true;
            }
            return std::nullopt;
        });
}

Result<Done> FleetOperator::wait_in_force(Course& course) {
    return wait(
        course, kPushing,
        [&](const std::vector<NodeRecord>& nodes, bool is_late) -> std::optional<Result<Done>> {
            const std::optional<Missing> missing =
                first_missing(course.rollout, nodes, !course.asked.canary.empty());
            if (!missing) {
                return Done{};
            }
            if (missing->has_failed || is_late) {
                return Error{Errc::Refused, "it is not in force on " + missing->why};
            }
            return std::nullopt;
        });
}

// All run it on trial; its key hangs on a lease that nobody keeps alive.
Result<Done> FleetOperator::hold(Course& course) {
    const std::int64_t seconds = course.asked.confirm->count();
    const Result<std::int64_t> lease = store_.etcd().grant(seconds);
    if (!lease) {
        return lease.error();
    }
    course.rollout.is_staged = true;
    course.rollout.is_everywhere = true;
    course.rollout.trial_seconds = static_cast<std::uint64_t>(seconds);
    if (const Result<Done> done = put(course, *lease); !done) {
        (void)store_.etcd().revoke(*lease);  // an answer may be lost, and the key be there
        return done;
    }
    (void)store_.etcd().revoke(std::exchange(course.lease, 0));
    return wait_in_force(course);
}

// A dataplane may refuse a set that compiles, such as for want of memory: all try it before it is
// the head, and the boxes that took it go back with the lease.
Result<Done> FleetOperator::try_everywhere(Course& course) {
    course.rollout.is_staged = true;
    course.rollout.is_everywhere = true;
    course.rollout.trial_seconds = static_cast<std::uint64_t>((kPushing + kTrialSlack).count());
    const Result<Done> done = put(course, course.lease);
    return done ? wait_in_force(course) : done;
}

// A box of the wave that goes away, or back to other rules, ends the rollout. One that has come
// since is staging it yet.
Result<Done> FleetOperator::soak(Course& course) {
    return wait(
        course, course.asked.soak,
        [&](const std::vector<NodeRecord>& nodes, bool is_late) -> std::optional<Result<Done>> {
            std::vector<NodeRecord> of_wave = nodes;
            std::erase_if(of_wave, [&](const NodeRecord& node) {
                return std::ranges::find(course.rollout.nodes, node.node) ==
                       course.rollout.nodes.end();
            });
            if (const std::optional<Missing> missing =
                    first_missing(course.rollout, of_wave, true)) {
                return is_under_way(course)
                           ? Error{Errc::Refused, "it does not run any more on " + missing->why}
                           : rollout_ended();
            }
            return is_late ? std::optional{Result<Done>{Done{}}} : std::nullopt;
        });
}

// The canary, a quarter, all; each on trial, and each for a while.
Result<Done> FleetOperator::waves(Course& course) {
    const Result<std::vector<NodeRecord>> nodes = members();
    if (!nodes) {
        return nodes.error();
    }
    std::vector<std::string> names{course.asked.canary};
    for (const NodeRecord& node : *nodes) {
        if (node.node != course.asked.canary) {
            names.push_back(node.node);
        }
    }
    if (names.size() != nodes->size()) {
        return Error{Errc::OutOfRange, "no box that is there is called " + course.asked.canary};
    }
    course.rollout.is_staged = true;
    course.rollout.trial_seconds =
        static_cast<std::uint64_t>((course.asked.soak * 3 + kTrialSlack).count());
    std::size_t done = 0;
    for (const std::size_t wave : {std::size_t{1}, (names.size() + 3) / 4, names.size()}) {
        if (wave == done) {
            continue;
        }
        done = wave;
        course.rollout.nodes.assign(names.begin(),
                                    names.begin() + static_cast<std::ptrdiff_t>(wave));
        course.rollout.is_everywhere = wave == names.size();
        for (const auto step : {0, 1, 2}) {
            const Result<Done> went = step == 0   ? put(course, course.lease)
                                      : step == 1 ? wait_in_force(course)
                                                  : soak(course);
            if (!went) {
                return went;
            }
        }
        report_(fmt::format("ran on {} of {} boxes for {} s", wave, names.size(),
                            course.asked.soak.count()));
    }
    return Done{};
}

}  // namespace sluice
