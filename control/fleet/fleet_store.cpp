#include "control/fleet/fleet_store.hpp"

#include "control/fleet/set_archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace sluice {
namespace {

constexpr std::size_t kMostMembers = 64;
constexpr std::size_t kMostChunkKeys = 4096;

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

}  // namespace

Result<FleetView> FleetStore::view() {
    const Result<EtcdOutcome> outcome =
        etcd_.commit({.then = {EtcdGet{.key = keys_.head()}, EtcdGet{.key = keys_.rollout()},
                               EtcdGet{.key = keys_.panic()}}});
    if (!outcome) {
        return outcome.error();
    }
    if (outcome->read.size() != 3) {
        return Error{Errc::BadSyntax, "etcd's answer is none: not what was asked for"};
    }
    FleetView view;
    view.cluster = outcome->cluster;
    auto head = read_one<Head>(outcome->read[0], head_from);
    auto rollout = read_one<Rollout>(outcome->read[1], rollout_from);
    auto panic = read_one<PanicRecord>(outcome->read[2], panic_from);
    if (!head || !rollout || !panic) {
        return !head ? head.error() : !rollout ? rollout.error() : panic.error();
    }
    view.head = *std::move(head);
    view.rollout = *std::move(rollout);
    if (*panic) {
        view.panic = std::move((*panic)->value);
    }
    return view;
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
        nodes.push_back(node ? *std::move(node)
                             : NodeRecord{.node = key.key.substr(keys_.prefix.size()),
                                          .error = node.error().what});
    }
    std::ranges::sort(nodes, {}, &NodeRecord::slot);
    return nodes;
}

Result<std::vector<std::string>> FleetStore::drained() {
    const Result<EtcdRange> range = etcd_.get(
        {.key = keys_.drains(), .end = end_of_prefix(keys_.drains()), .most = kMostMembers});
    if (!range) {
        return range.error();
    }
    std::vector<std::string> names;
    for (const EtcdKey& key : range->keys) {
        names.push_back(key.key.substr(keys_.drains().size()));
    }
    return names;
}

Result<Done> FleetStore::upload(const SetName& name, std::string_view bytes) {
    for (std::size_t at = 0, number = 0; at < bytes.size(); at += kChunkBytes, ++number) {
        const std::string key = keys_.chunk(name.sum, number);
        const Result<EtcdOutcome> outcome = etcd_.commit(
            {.when = {is_absent(key)},
             .then = {EtcdPut{.key = key, .value = std::string{bytes.substr(at, kChunkBytes)}}}});
        if (!outcome) {
            return outcome.error();
        }
    }
    return Done{};
}

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
        if (range->keys.empty() || range->keys.front().value.empty()) {
            return Error{Errc::OutOfRange,
                         fmt::format("etcd has not all of the set {}", name.sum.substr(0, 12))};
        }
        bytes += range->keys.front().value;
    }
    if (name_of_set(bytes) != name) {
        return Error{Errc::BadSyntax, fmt::format("etcd has other bytes than those of the set {}",
                                                  name.sum.substr(0, 12))};
    }
    return bytes;
}

// The chunks of one set are next to each other; their first key names the set.
Result<Done> FleetStore::keep_only(const std::vector<SetName>& names) {
    std::string from = keys_.sets();
    for (std::size_t seen = 0; seen < kMostChunkKeys; ++seen) {
        const Result<EtcdRange> range =
            etcd_.get({.key = from, .end = end_of_prefix(keys_.sets()), .most = 1});
        if (!range) {
            return range.error();
        }
        if (range->keys.empty()) {
            break;
        }
        const std::string& key = range->keys.front().key;
        const std::string sum =
            key.substr(keys_.sets().size(), key.rfind('/') - keys_.sets().size());
        const std::string folder = keys_.sets() + sum + "/";
        from = end_of_prefix(folder);
        if (std::ranges::find(names, sum, &SetName::sum) != names.end()) {
            continue;
        }
        const Result<EtcdOutcome> gone =
            etcd_.commit({.then = {EtcdDelete{.key = folder, .end = from}}});
        if (!gone) {
            return gone.error();
        }
    }
    return Done{};
}

}  // namespace sluice
