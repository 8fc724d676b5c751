#include "control/fleet/fleet_operator.hpp"
#include "control/fleet/rollout_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

// Commands of operators to a cluster beside rollouts: panic, boxes that do not return, its size.
namespace sluice {

// Above every number that a box has followed, also where etcd has forgotten its own. A record that
// cannot be read is no hindrance.
Result<PanicOutcome> FleetOperator::set_panic(bool pass, const std::string& by,
                                              std::chrono::milliseconds patience) {
    const Result<std::optional<PanicRecord>> before = store_.panic();
    if (!before && before.error().code != Errc::BadSyntax) {
        return before.error();
    }
    const Result<std::vector<NodeRecord>> nodes = store_.nodes();
    if (!nodes) {
        return nodes.error();
    }
    std::vector<std::uint64_t> numbers;
    std::ranges::transform(*nodes, std::back_inserter(numbers), &NodeRecord::panic);
    if (before && *before) {
        numbers.push_back((*before)->number);
    }
    const PanicRecord panic{.pass = pass, .number = newest_of(std::move(numbers)) + 1, .by = by};
    const Result<Done> done =
        store_.etcd().put({.key = store_.keys().panic(), .value = text_of(panic)});
    return done ? wait_for_panic(panic.number, patience) : done.error();
}

Result<PanicOutcome> FleetOperator::wait_for_panic(std::uint64_t number,
                                                   std::chrono::milliseconds patience) {
    const Clock::time_point end = Clock::now() + patience;
    for (;;) {
        const Result<std::vector<NodeRecord>> nodes = store_.nodes();
        const bool is_late = Clock::now() >= end;
        if (!nodes && (is_late || !is_away(nodes.error()))) {
            return nodes.error();
        }
        PanicOutcome outcome;
        for (const NodeRecord& node : nodes ? *nodes : std::vector<NodeRecord>{}) {
            const bool has_followed = node.panic == number;
            (has_followed ? outcome.followed : outcome.behind)
                .push_back(has_followed ? node.node : why_behind(node));
        }
        if (is_late || (nodes && outcome.behind.empty())) {
            return outcome;
        }
        std::this_thread::sleep_for(kRolloutPoll);
    }
}

Result<std::vector<std::string>> FleetOperator::away(const std::vector<NodeRecord>& nodes) {
    const Result<std::vector<std::string>> drained = store_.drained();
    return drained ? store_.away(nodes, *drained) : drained.error();
}

Result<bool> FleetOperator::forget(const std::string& node) {
    const Result<std::vector<NodeRecord>> nodes = store_.nodes();
    if (!nodes) {
        return nodes.error();
    }
    if (std::ranges::find(*nodes, node, &NodeRecord::node) != nodes->end()) {
        return false;
    }
    const FleetKeys& keys = store_.keys();
    const Result<EtcdOutcome> outcome = store_.etcd().commit(
        {.then = {EtcdGet{.key = keys.seen(node)}, EtcdGet{.key = keys.drain(node)},
                  EtcdDelete{.key = keys.seen(node)}, EtcdDelete{.key = keys.drain(node)}}});
    if (!outcome) {
        return outcome.error();
    }
    return std::ranges::any_of(outcome->read, [](const auto& found) { return !found.empty(); });
}

Result<bool> FleetOperator::resize(std::size_t size) {
    const std::string key = store_.keys().cluster();
    const Result<EtcdRange> range = store_.etcd().get({.key = key});
    const Result<std::vector<NodeRecord>> nodes = range ? store_.nodes() : range.error();
    if (!nodes) {
        return nodes.error();
    }
    if (range->keys.empty()) {
        return false;
    }
    Result<ClusterRecord> cluster = cluster_from(range->keys.front().value);
    if (!cluster) {
        return cluster.error();
    }
    for (const NodeRecord& node : *nodes) {
        if (node.slot >= size) {
            return Error{Errc::Refused, fmt::format("{} has slot {}: `sluicectl drain` it first",
                                                    node.node, node.slot)};
        }
    }
    cluster->size = size;
    const Result<EtcdOutcome> outcome =
        store_.etcd().commit({.when = {is_unchanged(key, range->keys.front().modified)},
                              .then = {EtcdPut{.key = key, .value = text_of(*cluster)}}});
    if (!outcome) {
        return outcome.error();
    }
    return outcome->held ? Result<bool>{true}
                         : Error{Errc::Busy, "another operator was quicker; nothing was changed"};
}

}  // namespace sluice
