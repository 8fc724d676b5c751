#pragma once
#include "control/cli/daemon.hpp"
#include "control/cli/explain/account.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <variant>

namespace sluice {

// The state of a packet's keys on a box's workers, under the rules that it matches: what
// `key show` shows, for each limit.
struct BoxStates {
    struct Bucket {
        std::uint64_t remaining = 0;
        Nanoseconds wait{};  // until the packet's cost fits; kNever
    };
    struct Ban {
        std::uint64_t refusals = 0;
        Nanoseconds left{};
    };
    // A rule by its place in the account; then a limit, or a key, by its index; then the lcore.
    using Place = std::pair<std::size_t, std::size_t>;
    std::map<Place, std::map<std::uint32_t, Bucket>> buckets;
    std::map<Place, std::map<std::uint32_t, Ban>> bans;
    std::set<std::uint32_t> lcores;   // that have answered
    std::set<std::uint32_t> knowing;  // of these, those with state of any of the keys
    std::set<std::uint32_t> silent;
};

// `account` has the packet's keys; its rules are `rules`.
[[nodiscard]] std::variant<BoxStates, DaemonRefusal> box_states(const Options& options,
                                                                const PacketAccount& account,
                                                                const ReplayRules& rules);

}  // namespace sluice
