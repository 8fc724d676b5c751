#pragma once
#include "lib/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// Records that the boxes of a cluster and its operators keep in etcd, under /sluice/NAME/:
//
// - `cluster`: the declared size and the hash secret's digest, by the first box; never changed
// - `nodes/SLOT`: a member: its NodeRecord, under a lease
// - `names/NODE`: the incarnation of the member of that name, under the same lease
// - `sets/SHA256/I`: rule files and lists, in chunks
// - `head`: the set that all are to run
// - `rollout`: the set that is on its way, under the lease of the operator who brings it
// - `panic`: whether all pass everything
// - `drains/NODE`: a box that is to leave
// - `seen/NODE`: a box that has been a member, and has not been forgotten
// - `settings/number`: that of the latest change of what follows; `settings/under_way`: of steps
// - `settings/keys/SUM`: what is set for one key of a rule on all boxes, or its ban; under a lease
//   where it is to end
// - `settings/acts/NUMBER`: what each box does once, such as a reset; under a lease
struct FleetKeys {
    explicit FleetKeys(std::string_view name) : prefix{"/sluice/" + std::string{name} + "/"} {}

    [[nodiscard]] std::string cluster() const { return prefix + "cluster"; }
    [[nodiscard]] std::string nodes() const { return prefix + "nodes/"; }
    [[nodiscard]] std::string node(std::size_t slot) const {
        return nodes() + std::to_string(slot);
    }
    [[nodiscard]] std::string name(std::string_view node) const {
        return prefix + "names/" + std::string{node};
    }
    [[nodiscard]] std::string sets() const { return prefix + "sets/"; }
    [[nodiscard]] std::string chunk(std::string_view set, std::size_t number) const {
        return sets() + std::string{set} + "/" + std::to_string(number);
    }
    [[nodiscard]] std::string head() const { return prefix + "head"; }
    [[nodiscard]] std::string rollout() const { return prefix + "rollout"; }
    [[nodiscard]] std::string panic() const { return prefix + "panic"; }
    [[nodiscard]] std::string drains() const { return prefix + "drains/"; }
    [[nodiscard]] std::string drain(std::string_view node) const {
        return drains() + std::string{node};
    }

    [[nodiscard]] std::string seen() const { return prefix + "seen/"; }
    [[nodiscard]] std::string seen(std::string_view node) const {
        return seen() + std::string{node};
    }
    [[nodiscard]] std::string settings() const { return prefix + "settings/"; }
    [[nodiscard]] std::string setting_number() const { return settings() + "number"; }
    [[nodiscard]] std::string setting_keys() const { return settings() + "keys/"; }
    [[nodiscard]] std::string setting_acts() const { return settings() + "acts/"; }

    std::string prefix;
};

// A set of rule files with its lists, as it lies in chunks; named by the sum of its bytes.
struct SetName {
    std::string sum;  // SHA-256, 64 digits; empty: none
    std::uint64_t size = 0;

    [[nodiscard]] bool operator==(const SetName&) const = default;
};
inline constexpr std::size_t kSetSumSize = 64;

// A set that all are to run, or were.
struct HeadSet {
    SetName set{};
    std::uint64_t generation = 0;  // 1, 2, ... : one more with every set that is put in force
    std::string by{};
    std::int64_t at = 0;  // UTC, seconds

    [[nodiscard]] bool operator==(const HeadSet&) const = default;
};
struct Head {
    HeadSet now{};
    std::vector<HeadSet> before{};  // the newest first

    static constexpr std::size_t kMost = 8;
};

// The set that is on its way. While its key is there, the boxes that it names have it on trial.
struct Rollout {
    std::string id{};
    HeadSet next{};
    bool is_uploaded = true;           // all chunks of the set are there
    bool is_staged = false;            // by all: those that it names have it in force
    std::vector<std::string> nodes{};  // who runs it on trial
    bool is_everywhere = false;        // all run it on trial
    std::uint64_t trial_seconds = 0;   // each box's own timer
    bool force = false;                // also when no rule in it is on
};

// A verdict of a box on a set.
struct StagedSet {
    std::string rollout{};
    bool is_good = false;
    std::string why{};  // not
};

// The box's link to the store of the cluster's limits.
struct StoreReading {
    std::string state{};            // "ready", ...; empty: the cluster has no store
    std::uint64_t rtt_us = 0;       // of an answer
    std::int64_t clock_off_us = 0;  // the store's UTC less the box's
    std::uint64_t unsynced = 0;     // units that the store has not confirmed

    [[nodiscard]] bool operator==(const StoreReading&) const = default;
};
// Another reading than the one before for people; others make no revision of etcd.
[[nodiscard]] bool differs_notably(const StoreReading& before, const StoreReading& now);

struct NodeRecord {
    std::string node{};
    std::string incarnation{};
    std::string version{};
    std::string host{};
    std::size_t slot = 0;
    HeadSet in_force{};        // of the cluster; generation 0: nothing of it
    std::string rules{};       // the generation of its rule set, as its own `rules` tells
    bool is_trial = false;     // `in_force` goes again unless it is confirmed
    bool is_detached = false;  // other rules were applied on the box itself
    bool is_dataplane_away = false;
    StoreReading store{};
    StagedSet staged{};
    std::uint64_t failed = 0;      // generation that it could not put in force; 0: none
    std::string error{};           // why it does not run what the cluster has; empty: it does
    std::uint64_t panic = 0;       // the number of the word that it has followed
    bool is_panic = false;         // its dataplane forwards everything unjudged
    std::uint64_t settings = 0;    // the number of the change of single keys that it has followed
    std::string settings_error{};  // why it has not all of these; empty: it has
};

// Generations and numbers of a panic go up by ones. One that is further ahead than this of what
// others have is a mistake, or is meant to leave no number above it: nobody follows it.
inline constexpr std::uint64_t kMostAhead = std::uint64_t{1} << 20;

// The newest of numbers that have come about by ones: without those that are as far ahead of what
// most boxes have as nobody follows. Boxes that have none yet say 0.
[[nodiscard]] std::uint64_t newest_of(std::vector<std::uint64_t> numbers);

struct ClusterRecord {
    std::uint64_t size = 0;
    std::string secret{};  // digest of the hash secret; empty: it was made without one
};

struct PanicRecord {
    bool pass = false;
    std::uint64_t number = 0;
    std::string by{};
};

// Values from outside: whatever is none is an Error, and texts are bounded.
[[nodiscard]] std::string text_of(const Head& head);
[[nodiscard]] Result<Head> head_from(std::string_view text);
[[nodiscard]] std::string text_of(const Rollout& rollout);
[[nodiscard]] Result<Rollout> rollout_from(std::string_view text);
[[nodiscard]] std::string text_of(const NodeRecord& node);
[[nodiscard]] Result<NodeRecord> node_from(std::string_view text);
[[nodiscard]] std::string text_of(const ClusterRecord& cluster);
[[nodiscard]] Result<ClusterRecord> cluster_from(std::string_view text);
[[nodiscard]] std::string text_of(const PanicRecord& panic);
[[nodiscard]] Result<PanicRecord> panic_from(std::string_view text);

}  // namespace sluice
