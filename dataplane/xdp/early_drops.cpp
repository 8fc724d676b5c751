#include "dataplane/xdp/early_drops.hpp"

#include "dataplane/xdp/monotonic_now.hpp"

#include <chrono>
#include <cstring>

namespace sluice {
namespace {

// CLOCK_MONOTONIC; 0: for ever.
std::uint64_t end_of(Nanoseconds until, const ClockPair& now) {
    return until == kForever
               ? 0
               : now.monotonic + static_cast<std::uint64_t>((until - now.utc).count());
}

}  // namespace

sluice_network network_of(const IpPrefix& from) {
    sluice_network network{};
    network.length = SLUICE_VERSION_BITS + from.length;
    network.from.version = static_cast<std::uint32_t>(from.version);
    std::memcpy(network.from.bytes, from.address.bytes.data(), sizeof(network.from.bytes));
    return network;
}

IpPrefix prefix_of(const sluice_network& network) {
    IpPrefix prefix{static_cast<IpVersion>(network.from.version),
                    {},
                    static_cast<std::uint8_t>(network.length - SLUICE_VERSION_BITS)};
    std::memcpy(prefix.address.bytes.data(), network.from.bytes, sizeof(network.from.bytes));
    return prefix;
}

ClockPair ClockPair::now() {
    return {.utc = std::chrono::duration_cast<Nanoseconds>(
                std::chrono::system_clock::now().time_since_epoch()),
            .monotonic = monotonic_now()};
}

std::vector<EarlyDrop> early_drops_of(const DroppedNetworks& found, const LoadedSet& rules,
                                      const ClockPair& now) {
    std::vector<EarlyDrop> drops;
    drops.reserve(found.networks.size());
    for (const DroppedNetwork& one : found.networks) {
        if (one.until > now.utc) {
            drops.push_back({network_of(one.from),
                             {.until = end_of(one.until, now),
                              .row = rules.rules[one.rule].counters,
                              .passes = static_cast<std::uint8_t>(one.passes() ? 1 : 0),
                              .source = static_cast<std::uint8_t>(one.source),
                              .length = 0,
                              .unused = 0}});
        }
    }
    return drops;
}

}  // namespace sluice
