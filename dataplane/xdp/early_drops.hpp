#pragma once
#include "dataplane/xdp/early_drop_table.hpp"
#include "lib/rules/load/early_drop.hpp"
#include "lib/rules/load/loaded_set.hpp"

#include <cstdint>
#include <vector>

namespace sluice {

// One instant on two clocks: UTC, which rules are written in, and the one of programs in the
// kernel.
struct ClockPair {
    Nanoseconds utc{};
    std::uint64_t monotonic = 0;  // ns

    [[nodiscard]] static ClockPair now();
    // How far UTC is ahead. It changes when somebody sets the clock.
    [[nodiscard]] Nanoseconds lead() const noexcept {
        return utc - Nanoseconds{static_cast<std::int64_t>(monotonic)};
    }
};

// The network as the program looks it up.
[[nodiscard]] sluice_network network_of(const IpPrefix& from);
[[nodiscard]] IpPrefix prefix_of(const sluice_network& network);

// The drops as the program has them, in their order; those that have ended are left out.
[[nodiscard]] std::vector<EarlyDrop> early_drops_of(const DroppedNetworks& found,
                                                    const LoadedSet& rules, const ClockPair& now);

}  // namespace sluice
