#include "control/fleet/fleet_operator.hpp"

#include "control/fleet/rollout_words.hpp"
#include "control/fleet/set_archive.hpp"
#include "control/random_secret.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <thread>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t kIdSize = 16;  // digits

}  // namespace

Result<std::vector<NodeRecord>> FleetOperator::members() {
    Result<std::vector<NodeRecord>> nodes = store_.nodes();
    if (nodes && nodes->empty()) {
        return Error{Errc::OutOfRange, "no box of the cluster is there"};
    }
    return nodes;
}

Result<FleetOperator::Course> FleetOperator::begin(const SetName& set, const RolloutCourse& asked,
                                                   bool is_back) {
    const Result<FleetView> view = store_.view();
    const Result<std::vector<NodeRecord>> nodes = view ? members() : view.error();
    const Result<std::string> id = random_secret();
    if (!view || !nodes || !id) {
        return !view ? view.error() : !nodes ? nodes.error() : id.error();
    }
    Course course{.asked = asked};
    std::uint64_t newest = view->head ? view->head->value.now.generation : 0;
    for (const NodeRecord& node : *nodes) {
        newest = std::max(newest, node.in_force.generation);  // of an etcd that has lost its own
    }
    const std::int64_t now = std::time(nullptr);
    course.rollout = {.id = id->substr(0, kIdSize),
                      .next = {.set = set, .generation = newest + 1, .by = asked.by, .at = now},
                      .force = asked.force};
    course.after.now = course.rollout.next;
    if (view->head) {
        const Head& head = view->head->value;
        course.head_modified = view->head->modified;
        course.after.before = head.before;
        if (is_back) {
            course.after.before.erase(course.after.before.begin());
        } else {
            course.after.before.insert(course.after.before.begin(), head.now);
        }
        course.after.before.resize(std::min(course.after.before.size(), Head::kMost));
    }
    if (view->rollout && !asked.takes_over) {
        return Error{Errc::Refused, fmt::format("a rollout by {} is under way; `sluicectl rollout "
                                                "status` shows it, `rollout abort` ends it",
                                                view->rollout->value.next.by)};
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
    course.lease = *lease;
    course.alive_at = Clock::now();
    const Result<Done> put_first = put(course, course.lease);
    return put_first ? Result<Course>{std::move(course)} : put_first.error();
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

Result<Done> FleetOperator::run(Course& course) {
    if (const Result<Done> staged = stage(course); !staged) {
        return staged;
    }
    if (!course.asked.canary.empty()) {
        if (const Result<Done> went = waves(course); !went) {
            return went;
        }
    }
    if (course.asked.confirm) {
        return hold(course);
    }
    return promote(course);
}

// The set that all run now; boxes that lag are told, and come after by themselves.
Result<RolloutOutcome> FleetOperator::finish(const Course& course) {
    const Clock::time_point end = Clock::now() + kPushing;
    for (;;) {
        const Result<std::vector<NodeRecord>> nodes = store_.nodes();
        if (!nodes) {
            return nodes.error();
        }
        RolloutOutcome outcome{.set = course.rollout.next};
        bool may_come = false;
        for (const NodeRecord& node : *nodes) {
            const bool is_there = runs(node, course.rollout.next) &&
                                  node.is_trial == course.asked.confirm.has_value();
            (is_there ? outcome.in_force : outcome.behind)
                .push_back(is_there ? node.node : why_behind(node));
            may_come = may_come || (!is_there && !has_failed(node, outcome.set));
        }
        if (!may_come || Clock::now() >= end) {
            return outcome;
        }
        std::this_thread::sleep_for(kRolloutLook);
    }
}

Result<RolloutOutcome> FleetOperator::bring(std::string_view bytes, const RolloutCourse& course) {
    const SetName name = name_of_set(bytes);
    if (const Result<Done> done = store_.upload(name, bytes); !done) {
        return done.error();
    }
    Result<Course> begun = begin(name, course, false);
    if (!begun) {
        return begun.error();
    }
    const Result<Done> done = run(*begun);
    if (begun->lease != 0) {
        (void)store_.etcd().revoke(begun->lease);  // with it goes a rollout that has failed
    }
    if (!done) {
        if (begun->lease == 0) {
            (void)abort();
        }
        return done.error();
    }
    if (!course.confirm) {
        std::vector<SetName> kept{begun->after.now.set};
        for (const HeadSet& set : begun->after.before) {
            kept.push_back(set.set);
        }
        (void)store_.keep_only(kept);
    }
    return finish(*begun);
}

Result<RolloutOutcome> FleetOperator::go_back(const RolloutCourse& asked) {
    const Result<FleetView> view = store_.view();
    if (!view) {
        return view.error();
    }
    if (view->rollout && !asked.takes_over) {
        const Result<bool> done = abort();
        return done ? Result<RolloutOutcome>{RolloutOutcome{
                          .set = view->head ? view->head->value.now : HeadSet{}}}
                    : done.error();
    }
    if (!view->head || view->head->value.before.empty()) {
        return Error{Errc::OutOfRange, "the cluster has no earlier rules to go back to"};
    }
    Result<Course> begun = begin(view->head->value.before.front().set, asked, true);
    if (!begun) {
        return begun.error();
    }
    const Result<Done> done = run(*begun);
    if (begun->lease != 0) {
        (void)store_.etcd().revoke(begun->lease);
    }
    return done ? finish(*begun) : done.error();
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
    if (const Result<Done> done = promote(course); !done) {
        return done.error();
    }
    return finish(course);
}

Result<bool> FleetOperator::abort() {
    const std::string key = store_.keys().rollout();
    const Result<EtcdOutcome> outcome =
        store_.etcd().commit({.then = {EtcdGet{.key = key}, EtcdDelete{.key = key}}});
    if (!outcome) {
        return outcome.error();
    }
    return !outcome->read.empty() && !outcome->read.front().empty();
}

// Above every number that a box has followed, also where etcd has forgotten its own.
Result<Done> FleetOperator::set_panic(bool pass, const std::string& by) {
    const Result<FleetView> view = store_.view();
    const Result<std::vector<NodeRecord>> nodes = view ? store_.nodes() : view.error();
    if (!nodes) {
        return nodes.error();
    }
    PanicRecord panic{.pass = pass, .number = view->panic ? view->panic->number : 0, .by = by};
    for (const NodeRecord& node : *nodes) {
        panic.number = std::max(panic.number, node.panic);
    }
    ++panic.number;
    return store_.etcd().put({.key = store_.keys().panic(), .value = text_of(panic)});
}

}  // namespace sluice
