#include "lib/l7/stream/unit_budget.hpp"

#include "lib/l7/proxy/proxy_clients.hpp"
#include "lib/l7/quic/quic_hellos.hpp"
#include "lib/l7/stream/connection_table.hpp"
#include "lib/l7/stream/service_tracking.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::size_t kLeastConnections = 64;
constexpr std::size_t kLeastDatagrams = 64;
// 8 KiB are kept for each.
constexpr std::size_t kLeastHalfHellos = 16;
constexpr std::size_t kMostHalfHellos = 512;
// RFC 8200, 4.5: a receiver keeps fragments of a datagram for so long.
constexpr Nanoseconds kHeldByServers = std::chrono::seconds{60};
// nginx, HAProxy and others wait for a head or a hello for 60 s or less.
constexpr Nanoseconds kHeadsAwaited = std::chrono::seconds{60};
constexpr std::uint64_t kCaptured = 8192;

std::size_t part_of(std::uint64_t all, std::size_t workers, std::size_t least) noexcept {
    const std::size_t count = std::max<std::size_t>(workers, 1);
    return std::max<std::size_t>((all + count - 1) / count, least);
}

}  // namespace

// A sixteenth of the connections is left to those where nothing is at stake, another to those that
// have begun. Four lines a connection
// hold the heads of half of them, of some 400 bytes each.
UnitBudget unit_budget(const UnitOptions& box, std::size_t workers) noexcept {
    const std::size_t most = part_of(box.connections.max, workers, kLeastConnections);
    const std::size_t half_hellos = std::clamp(most / 128, kLeastHalfHellos, kMostHalfHellos);
    return {.connections = {.connections = most,
                            .half_heads = most / 2,
                            .refusals = most / 4,
                            .given_up = most / 8,
                            .begun = most / 16,
                            .half_head_lines = std::min(most * 4, kMostLines),
                            .half_heads_per_source = most / 16,
                            .head_bytes = box.connections.head_bytes,
                            .half_head_timeout = box.connections.timeout,
                            .when_full = box.connections.when_full == FullConnections::Evict
                                             ? FullHeads::Evict
                                             : FullHeads::Refuse},
            .quic = {.connections = most / 2,
                     .half_hellos = half_hellos,
                     .half_hellos_per_source = half_hellos / 16,
                     .half_hello_timeout = box.connections.timeout,
                     .percent = static_cast<unsigned>(box.quic_initials_percent)},
            .fragments = {.datagrams = part_of(box.fragments.table, workers, kLeastDatagrams),
                          .timeout = box.fragments.timeout,
                          .on_orphan = OnOrphan::Pass},
            .datagrams = {.datagrams = std::clamp(part_of(box.fragments.table, workers, 1) / 16,
                                                  kLeastDatagrams, AssemblyBudget{}.datagrams),
                          .timeout = std::max(box.fragments.timeout, kHeldByServers)},
            .fragment_policy = box.fragments.policy,
            .on_ambiguous = box.on_ambiguous};
}

ConnectionBudget service_streams(const UnitBudget& budget) noexcept {
    ConnectionBudget streams = budget.connections;
    streams.idle_timeout = TrackBudget{}.idle_timeout;
    // A head that was given up hangs its client. Servers give it up by then.
    streams.half_head_timeout = std::max(streams.half_head_timeout, kHeadsAwaited);
    return streams;
}

Nanoseconds longest_timeout(const UnitBudget& budget) noexcept {
    return std::max({budget.connections.half_head_timeout, service_streams(budget).idle_timeout,
                     budget.quic.half_hello_timeout, budget.quic.idle_timeout,
                     budget.fragments.timeout, budget.datagrams.timeout});
}

UnitBudget capture_unit_budget(const UnitOptions& box) noexcept {
    UnitOptions small = box;
    small.connections.max = std::min(box.connections.max, kCaptured);
    small.fragments.table = std::min(box.fragments.table, kCaptured);
    return unit_budget(small, 1);
}

std::uint64_t memory_of(const UnitBudget& budget) noexcept {
    return ConnectionTable::memory_of(budget.connections, ReadingStance::Anywhere) +
           ConnectionTable::memory_of(budget.connections, ReadingStance::Service) +
           ProxyClients::memory_of(budget.connections.connections) +
           ServiceTracking::memory_of(budget) + QuicHellos::memory_of(budget.quic) +
           FragmentTable::memory_of(budget.fragments);
}

}  // namespace sluice
