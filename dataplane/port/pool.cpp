#include "dataplane/port/pool.hpp"

#include "dataplane/io/frame_ring.hpp"
#include "lib/base/device_text.hpp"
#include "lib/engine/burst/burst.hpp"

#include <algorithm>

#include <rte_mbuf.h>

namespace sluice {
namespace {

constexpr std::size_t kDescriptorsPerQueue = 2048;
constexpr std::uint32_t kCacheSize = 256;
constexpr std::size_t kInFlightPerWorker = std::size_t{2} * kCacheSize + kMaxBurst;
constexpr std::size_t kReserve = 1023;
constexpr std::size_t kLosses = 4;         // that a port can be taken up again after
constexpr std::uint16_t kSpareBytes = 64;  // what a pattern matcher may read past the end
constexpr std::uint16_t kLinkHeaders = 14 + 4 * 4;
constexpr std::uint16_t kLargestRoom = 9728 + RTE_PKTMBUF_HEADROOM + kSpareBytes;

constexpr std::uint64_t kBookkeeping = 256;                 // of each buffer
constexpr std::uint64_t kPerPort = std::uint64_t{4} << 20;  // rings, statistics
constexpr std::uint64_t kBase = std::uint64_t{64} << 20;
constexpr std::uint16_t kLikelyMtu = 3542;  // the most a port has that was given none

// Buffers that rings between workers may hold when few of them stand still.
std::size_t in_rings(const PoolUsers& users) noexcept {
    constexpr std::size_t kMostFull = 16;
    const std::size_t rings = users.queues == users.workers ? 2 : 4;  // there, and back
    // Rings to owners are there in any case: one that stands still has one from each of the others
    // for either direction.
    const std::size_t all = 2 + (users.rings ? rings : 0);
    return all * std::min(users.workers - 1, kMostFull) * kFrameRingSize;
}

// Virtual ports have no RSS.
bool may_need_rings(const PortConfig& side, std::size_t workers) noexcept {
    return workers > 1 && (!is_pci(side.device) || side.rss == Rss::SourcePrefix);
}

std::uint16_t room_for(std::uint16_t mtu) noexcept {
    const std::uint32_t room =
        RTE_PKTMBUF_HEADROOM + std::uint32_t{mtu} + kLinkHeaders + kSpareBytes;
    return static_cast<std::uint16_t>(
        std::clamp<std::uint32_t>(room, RTE_MBUF_DEFAULT_BUF_SIZE + kSpareBytes, kLargestRoom));
}

}  // namespace

std::uint64_t PoolPlan::bytes(std::uint64_t page) const noexcept {
    const std::uint64_t each = room + kBookkeeping;
    const std::uint64_t in_a_page = page / each;
    const std::uint64_t pages = in_a_page != 0 ? (buffers + in_a_page - 1) / in_a_page
                                               : buffers * ((each + page - 1) / page);
    return pages * page;
}

std::size_t losing_ports(const PairConfig& pair) noexcept {
    const auto loses = [](const PortConfig& port) { return port.device.starts_with("net_af_xdp"); };
    return std::size_t{loses(pair.outside)} + std::size_t{loses(pair.inside)};
}

PoolPlan plan_pool(const BoxConfig& box, const PoolUsers& users, std::uint16_t mtu) noexcept {
    const std::size_t needed = 2 * users.queues * kDescriptorsPerQueue +
                               users.losing * users.queues * kLosses * kDescriptorsPerQueue +
                               users.workers * kInFlightPerWorker + kReserve + in_rings(users);
    const std::size_t with_held = needed * 100 / (100 - box.held_percent);
    const std::size_t share = box.mbufs / std::max<std::size_t>(box.pairs.size(), 1);
    return {static_cast<std::uint32_t>(box.mbufs != 0 ? share : with_held), room_for(mtu)};
}

std::uint64_t memory_needed(const BoxConfig& box, std::size_t workers,
                            std::uint64_t page) noexcept {
    std::uint64_t bytes = kBase;
    for (const PairConfig& pair : box.pairs) {
        const std::size_t queues = std::min<std::size_t>(
            {pair.outside.queues.value_or(workers), pair.inside.queues.value_or(workers), workers});
        const bool rings = pair.hand_over && (may_need_rings(pair.outside, workers) ||
                                              may_need_rings(pair.inside, workers));
        bytes += plan_pool(box, {queues, workers, rings, losing_ports(pair)},
                           pair.mtu.value_or(kLikelyMtu))
                     .bytes(page);
        bytes += 2 * kPerPort;
    }
    return bytes;
}

Result<rte_mempool*> make_pool(const PoolPlan& plan, const std::string& pair, std::uint16_t port,
                               int socket) {
    const std::string name = "mbufs-" + std::to_string(port);
    rte_mempool* pool =
        rte_pktmbuf_pool_create(name.c_str(), plan.buffers, kCacheSize, 0, plan.room, socket);
    if (pool == nullptr) {
        return Error{Errc::NotSupported, "no memory for the packet buffers of pair " + pair + " (" +
                                             std::to_string(plan.buffers) + " of " +
                                             std::to_string(plan.room) +
                                             " bytes); set fewer `mbufs`, or reserve huge pages"};
    }
    return pool;
}

}  // namespace sluice
