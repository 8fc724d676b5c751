#include "control/fleet/fleet_operator.hpp"

#include "control/fleet/rollout_words.hpp"
#include "control/fleet/set_archive.hpp"
#include "control/random_secret.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>
#include <thread>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t kIdSize = 16;  // digits

std::string utc_seconds(std::int64_t at) {
    const std::time_t time = at;
    std::tm utc{};
    (void)::gmtime_r(&time, &utc);
    std::array<char, 32> text{};
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

}  // namespace

Result<std::vector<NodeRecord>> FleetOperator::members() {
    Result<std::vector<NodeRecord>> nodes = store_.nodes();
    if (nodes && nodes->empty()) {
        return Error{Errc::OutOfRange, "no box of the cluster is there"};
    }
    return nodes;
}

// Above each generation that a box or the head has, and each that a box has failed with.
Result<FleetOperator::Course> FleetOperator::plan(const std::optional<SetName>& set,
                                                  const RolloutCourse& asked,
                                                  const FleetView& view) {
    const Result<std::vector<NodeRecord>> nodes = members();
    const Result<std::string> id = random_secret();
    if (!nodes || !id) {
        return !nodes ? nodes.error() : id.error();
    }
    if (!asked.canary.empty() &&
        std::ranges::find(*nodes, asked.canary, &NodeRecord::node) == nodes->end()) {
        return Error{Errc::OutOfRange, "no box that is there is called " + asked.canary};
    }
    Course course{.asked = asked};
    std::vector<std::uint64_t> numbers;
    if (view.head) {
        numbers.push_back(view.head->value.now.generation);
        course.head_modified = view.head->modified;
        course.after.before = view.head->value.before;
    }
    for (const NodeRecord& node : *nodes) {
        numbers.push_back(std::max(node.in_force.generation, node.failed));
    }
    const std::uint64_t newest = newest_of(std::move(numbers));
    std::vector<HeadSet>& before = course.after.before;
    if (!set && before.empty()) {
        return Error{Errc::OutOfRange, "the cluster has no earlier rules to go back to"};
    }
    course.rollout = {.id = id->substr(0, kIdSize),
                      .next = {.set = set ? *set : before.front().set,
                               .generation = newest + 1,
                               .by = asked.by,
                               .at = std::time(nullptr)},
                      .is_uploaded = false,
                      .force = asked.force};
    course.after.now = course.rollout.next;
    if (!set) {
        before.erase(before.begin());
    } else if (view.head && view.head->value.now.generation <= newest) {
        before.insert(before.begin(), view.head->value.now);
    }
    before.resize(std::min(before.size(), Head::kMost));
    return course;
}

Result<FleetOperator::Course> FleetOperator::begin(const std::optional<SetName>& set,
                                                   const RolloutCourse& asked) {
    const Result<FleetView> view = store_.view();
    if (!view) {
        return view.error();
    }
    if (view->rollout && !asked.takes_over) {
        return Error{Errc::Refused, fmt::format("a rollout by {} is under way; `sluicectl rollout "
                                                "status` shows it, `rollout abort` ends it",
                                                view->rollout->value.next.by)};
    }
    Result<Course> course = plan(set, asked, *view);
    if (!course) {
        return course;
    }
    if (view->rollout) {
        if (const Result<bool> done = abort(); !done) {
            return done.error();
        }
    }
    const Result<std::int64_t> lease = store_.etcd().grant(kLease.count());
    if (!lease) {
        return lease.error();
    }
    course->lease = *lease;
    course->alive_at = course->answered_at = Clock::now();
    if (const Result<Done> done = put(*course, course->lease); !done) {
        (void)store_.etcd().revoke(course->lease);
        return done.error();
    }
    return course;
}

// The first time: where nobody else was quicker; then: where it is still ours.
Result<Done> FleetOperator::put(Course& course, std::int64_t lease) {
    const FleetKeys& keys = store_.keys();
    const std::string key = keys.rollout();
    const Result<EtcdOutcome> outcome = store_.etcd().commit(
        {.when = {is_unchanged(key, course.rollout_modified),
                  is_unchanged(keys.head(), course.head_modified)},
         .then = {EtcdPut{.key = key, .value = text_of(course.rollout), .lease = lease}}});
    if (!outcome) {
        return outcome.error();
    }
    if (!outcome->held) {
        return course.rollout_modified == 0
                   ? Error{Errc::Refused, "another operator was quicker; nothing was changed"}
                   : rollout_ended();
    }
    course.rollout_modified = outcome->revision;
    return Done{};
}

Result<Done> FleetOperator::promote(const Course& course) {
    const FleetKeys& keys = store_.keys();
    const Result<EtcdOutcome> outcome =
        store_.etcd().commit({.when = {is_unchanged(keys.rollout(), course.rollout_modified),
                                       is_unchanged(keys.head(), course.head_modified)},
                              .then = {EtcdPut{.key = keys.head(), .value = text_of(course.after)},
                                       EtcdDelete{.key = keys.rollout()}}});
    if (outcome) {
        return outcome->held ? Result<Done>{Done{}} : rollout_ended();
    }
    const Result<FleetView> view = store_.view();  // it may have been done
    const bool is_done = view && view->head && view->head->value.now == course.after.now;
    return is_done ? Result<Done>{Done{}} : outcome.error();
}

Result<Done> FleetOperator::run(std::string_view bytes, Course& course) {
    Result<Done> done =
        store_.upload(course.rollout.next.set, bytes, [&] { return keep_alive(course); });
    course.rollout.is_uploaded = true;
    if (done) {
        done = put(course, course.lease);
    }
    if (done) {
        done = stage(course);
    }
    if (done && !course.asked.canary.empty()) {
        done = waves(course);
    } else if (done && !course.asked.confirm) {
        done = try_everywhere(course);
    }
    return !done ? done : course.asked.confirm ? hold(course) : promote(course);
}

// A rollout that has failed goes with its lease, or where that is the trial's, by its key.
void FleetOperator::end(Course& course, bool is_done) {
    const std::string key = store_.keys().rollout();
    if (course.lease != 0) {
        (void)store_.etcd().revoke(std::exchange(course.lease, 0));
    } else if (!is_done) {
        (void)store_.etcd().commit({.when = {is_unchanged(key, course.rollout_modified)},
                                    .then = {EtcdDelete{.key = key}}});
    }
    (void)store_.delete_unnamed();
}

// The set that all run now; boxes that lag are told, and come after by themselves.
Result<RolloutOutcome> FleetOperator::finish(const Course& course) {
    const Clock::time_point end = Clock::now() + kPushing;
    for (;;) {
        const Result<std::vector<NodeRecord>> nodes = store_.nodes();
        if (!nodes && (!is_away(nodes.error()) || Clock::now() >= end)) {
            return nodes.error();
        }
        RolloutOutcome outcome{.set = course.rollout.next};
        bool may_come = !nodes;
        for (const NodeRecord& node : nodes ? *nodes : std::vector<NodeRecord>{}) {
            const bool is_there = runs(node, course.rollout.next) &&
                                  node.is_trial == course.asked.confirm.has_value();
            (is_there ? outcome.in_force : outcome.behind)
                .push_back(is_there ? node.node : why_behind(node));
            may_come = may_come || (!is_there && !has_failed(node, outcome.set));
        }
        if (!may_come || Clock::now() >= end) {
            Result<std::vector<std::string>> away =
                nodes ? this->away(*nodes) : Result<std::vector<std::string>>{nodes.error()};
            outcome.away = away ? *std::move(away) : std::vector<std::string>{};
            return outcome;
        }
        std::this_thread::sleep_for(kRolloutPoll);
    }
}

Result<RolloutOutcome> FleetOperator::roll_out(std::string_view bytes, const RolloutCourse& asked) {
    Result<Course> course = begin(name_of_set(bytes), asked);
    if (!course) {
        return course.error();
    }
    const Result<Done> done = run(bytes, *course);
    end(*course, done.has_value());
    return done ? finish(*course) : done.error();
}

// A rollout that became the head before its end came is what to go back from.
Result<RolloutOutcome> FleetOperator::roll_back(const RolloutCourse& asked) {
    const Result<FleetView> view = store_.view();
    if (!view) {
        return view.error();
    }
    if (view->rollout && !asked.takes_over) {
        const Result<bool> ended = abort();
        if (!ended) {
            return ended.error();
        }
        if (*ended) {
            (void)store_.delete_unnamed();
            return view->head ? finish({.rollout = {.next = view->head->value.now}})
                              : RolloutOutcome{};
        }
    }
    Result<Course> course = begin(std::nullopt, asked);
    if (!course) {
        return course.error();
    }
    if (view->head && !view->head->value.before.empty()) {
        const HeadSet& former = view->head->value.before.front();
        report_(fmt::format("back to the set of generation {}, brought by {} at {}",
                            former.generation, former.by, utc_seconds(former.at)));
    }
    const Result<bool> is_there = store_.has_set(course->rollout.next.set);
    const Result<Done> done =
        !is_there   ? Result<Done>{is_there.error()}
        : *is_there ? promote(*course)
                    : Error{Errc::OutOfRange, "etcd has not all of the rules to go back to"};
    end(*course, done.has_value());
    return done ? finish(*course) : done.error();
}

// Boxes that have left the trial, such as by a rollback of their own operator, are taken along.
void FleetOperator::report_untried(const HeadSet& next) {
    const Result<std::vector<NodeRecord>> nodes = store_.nodes();
    for (const NodeRecord& node : nodes ? *nodes : std::vector<NodeRecord>{}) {
        if (!runs(node, next)) {
            report_(fmt::format("{} does not run it on trial, and is to take it now",
                                why_behind(node)));
        }
    }
}

Result<RolloutOutcome> FleetOperator::confirm() {
    const Result<FleetView> view = store_.view();
    if (!view) {
        return view.error();
    }
    if (!view->rollout || !view->rollout->value.is_staged || !view->rollout->value.is_everywhere) {
        return Error{Errc::Refused, view->rollout ? "the rollout is not on all boxes yet"
                                                  : "no rollout waits to be confirmed"};
    }
    Course course{.rollout = view->rollout->value};
    course.rollout_modified = view->rollout->modified;
    course.after.now = course.rollout.next;
    if (view->head) {
        course.head_modified = view->head->modified;
        course.after.before = view->head->value.before;
        course.after.before.insert(course.after.before.begin(), view->head->value.now);
        course.after.before.resize(std::min(course.after.before.size(), Head::kMost));
    }
    report_untried(course.rollout.next);
    if (const Result<Done> done = promote(course); !done) {
        return done.error();
    }
    (void)store_.delete_unnamed();
    return finish(course);
}

// The read finds a server that answers, which a write alone would not.
Result<bool> FleetOperator::abort() {
    const std::string key = store_.keys().rollout();
    const Result<EtcdRange> range = store_.etcd().get({.key = key});
    if (!range || range->keys.empty()) {
        return range ? Result<bool>{false} : range.error();
    }
    const Result<EtcdOutcome> outcome =
        store_.etcd().commit({.then = {EtcdGet{.key = key}, EtcdDelete{.key = key}}});
    if (!outcome) {
        return outcome.error();
    }
    return !outcome->read.empty() && !outcome->read.front().empty();
}

}  // namespace sluice
