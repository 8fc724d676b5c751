#include "control/fleet/fleet_store.hpp"

#include "control/fleet/set_archive.hpp"
#include "control/visible_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t kMostMembers = 64;
constexpr std::size_t kMostChunkKeys = 4096;
constexpr std::size_t kShownSum = 12;  // digits

// Reads the one key of a range, where there is one.
template <typename T, typename Read>
Result<std::optional<Versioned<T>>> read_one(const std::vector<EtcdKey>& keys, const Read& read) {
    if (keys.empty()) {
        return std::optional<Versioned<T>>{};
    }
    Result<T> value = read(keys.front().value);
    if (!value) {
        return value.error();
    }
    return std::optional{Versioned<T>{*std::move(value), keys.front().modified}};
}

std::string short_sum(const SetName& name) {
    return name.sum.substr(0, kShownSum);
}

Error other_bytes(const SetName& name) {
    return {Errc::BadSyntax,
            fmt::format("etcd has other bytes than those of the set {}", short_sum(name))};
}

// The name that a key has behind the prefix that was asked for.
std::string name_in(const EtcdKey& key, const std::string& prefix) {
    return visible_line(key.key.starts_with(prefix) ? key.key.substr(prefix.size()) : key.key);
}

}  // namespace

Result<FleetView> FleetStore::view() {
    const Result<EtcdOutcome> outcome =
        etcd_.commit({.then = {EtcdGet{.key = keys_.head()}, EtcdGet{.key = keys_.rollout()}}});
    if (!outcome) {
        return outcome.error();
    }
    if (outcome->read.size() != 2) {
        return Error{Errc::BadSyntax, "etcd's answer is none: not what was asked for"};
    }
    auto head = read_one<Head>(outcome->read[0], head_from);
    auto rollout = read_one<Rollout>(outcome->read[1], rollout_from);
    if (!head || !rollout) {
        return !head ? head.error() : rollout.error();
    }
    return FleetView{.head = *std::move(head), .rollout = *std::move(rollout)};
}

Result<std::optional<PanicRecord>> FleetStore::panic() {
    const Result<EtcdRange> range = etcd_.get({.key = keys_.panic()});
    if (!range) {
        return range.error();
    }
    auto panic = read_one<PanicRecord>(range->keys, panic_from);
    if (!panic) {
        return panic.error();
    }
    return *panic ? std::optional{std::move((*panic)->value)} : std::nullopt;
}

Result<std::vector<NodeRecord>> FleetStore::nodes() {
    const Result<EtcdRange> range = etcd_.get(
        {.key = keys_.nodes(), .end = end_of_prefix(keys_.nodes()), .most = kMostMembers});
    if (!range) {
        return range.error();
    }
    std::vector<NodeRecord> nodes;
    for (const EtcdKey& key : range->keys) {
        Result<NodeRecord> node = node_from(key.value);
        nodes.push_back(
            node ? *std::move(node)
                 : NodeRecord{.node = name_in(key, keys_.prefix), .error = node.error().what});
    }
    std::ranges::sort(nodes, {}, &NodeRecord::slot);
    return nodes;
}

Result<std::vector<std::string>> FleetStore::names(const std::string& prefix) {
    const Result<EtcdRange> range =
        etcd_.get({.key = prefix, .end = end_of_prefix(prefix), .most = kMostMembers});
    if (!range) {
        return range.error();
    }
    std::vector<std::string> names;
    for (const EtcdKey& key : range->keys) {
        names.push_back(name_in(key, prefix));
    }
    return names;
}

Result<std::vector<std::string>> FleetStore::drained() {
    return names(keys_.drains());
}

Result<std::vector<std::string>> FleetStore::away(const std::vector<NodeRecord>& nodes,
                                                  const std::vector<std::string>& drained) {
    Result<std::vector<std::string>> names = this->names(keys_.seen());
    if (names) {
        std::erase_if(*names, [&](const std::string& name) {
            return std::ranges::find(nodes, name, &NodeRecord::node) != nodes.end() ||
                   std::ranges::find(drained, name) != drained.end();
        });
    }
    return names;
}

Result<std::uint64_t> FleetStore::size() {
    const Result<EtcdRange> range = etcd_.get({.key = keys_.cluster()});
    if (!range || range->keys.empty()) {
        return range ? Result<std::uint64_t>{0} : range.error();
    }
    const Result<ClusterRecord> cluster = cluster_from(range->keys.front().value);
    return cluster ? Result<std::uint64_t>{cluster->size} : cluster.error();
}

Result<Done> FleetStore::upload(const SetName& name, std::string_view bytes,
                                const std::function<Result<Done>()>& between) {
    for (std::size_t at = 0, number = 0; at < bytes.size(); at += kChunkBytes, ++number) {
        const std::string key = keys_.chunk(name.sum, number);
        const Result<EtcdOutcome> outcome = etcd_.commit(
            {.when = {is_absent(key)},
             .then = {EtcdPut{.key = key, .value = std::string{bytes.substr(at, kChunkBytes)}}}});
        if (!outcome) {
            return outcome.error();
        }
        const Result<Done> goes_on = between ? between() : Result<Done>{Done{}};
        if (!goes_on) {
            return goes_on;
        }
    }
    return Done{};
}

// No more chunks are read than a set of this size has, and each has its whole size.
Result<std::string> FleetStore::download(const SetName& name) {
    if (name.size > kMostSetBytes) {
        return Error{Errc::TooMany,
                     fmt::format("the set has {} bytes, more than {}", name.size, kMostSetBytes)};
    }
    std::string bytes;
    for (std::size_t number = 0; bytes.size() < name.size; ++number) {
        const Result<EtcdRange> range = etcd_.get({.key = keys_.chunk(name.sum, number)});
        if (!range) {
            return range.error();
        }
        if (range->keys.empty()) {
            return Error{Errc::OutOfRange,
                         fmt::format("etcd has not all of the set {}", short_sum(name))};
        }
        const std::string& chunk = range->keys.front().value;
        if (chunk.size() != std::min<std::uint64_t>(kChunkBytes, name.size - bytes.size())) {
            return other_bytes(name);
        }
        bytes += chunk;
    }
    return name_of_set(bytes) == name ? Result<std::string>{std::move(bytes)} : other_bytes(name);
}

Result<bool> FleetStore::has_set(const SetName& name) {
    const std::size_t last = name.size == 0 ? 0 : (name.size - 1) / kChunkBytes;
    const Result<EtcdRange> range = etcd_.get({.key = keys_.chunk(name.sum, last)});
    return range ? Result<bool>{name.size == 0 || !range->keys.empty()} : range.error();
}

// The chunks of one set are next to each other; their first key names the set. A rollout's key
// is put before its set is uploaded, so each deletion that finds none deletes no set of a rollout.
Result<Done> FleetStore::delete_unnamed() {
    const Result<FleetView> view = this->view();
    if (!view) {
        return view.error();
    }
    std::vector<HeadSet> named = view->head ? view->head->value.before : std::vector<HeadSet>{};
    if (view->head) {
        named.push_back(view->head->value.now);
    }
    const std::int64_t head_modified = view->head ? view->head->modified : 0;
    std::string from = keys_.sets();
    for (std::size_t seen = 0; seen < kMostChunkKeys && !view->rollout; ++seen) {
        const Result<EtcdRange> range =
            etcd_.get({.key = from, .end = end_of_prefix(keys_.sets()), .most = 1});
        if (!range) {
            return range.error();
        }
        const std::string key = range->keys.empty() ? "" : range->keys.front().key;
        if (!key.starts_with(keys_.sets())) {
            break;
        }
        const std::string sum = key.substr(keys_.sets().size()).substr(0, kSetSumSize);
        const std::string folder = keys_.sets() + sum + "/";
        from = std::max(end_of_prefix(folder), key + '\0');
        if (std::ranges::find(named, sum, [](const HeadSet& set) { return set.set.sum; }) !=
            named.end()) {
            continue;
        }
        const Result<EtcdOutcome> gone = etcd_.commit(
            {.when = {is_unchanged(keys_.head(), head_modified), is_unchanged(keys_.rollout(), 0)},
             .then = {EtcdDelete{.key = folder, .end = end_of_prefix(folder)}}});
        if (!gone || !gone->held) {
            return gone ? Result<Done>{Done{}} : gone.error();
        }
    }
    return Done{};
}

}  // namespace sluice
