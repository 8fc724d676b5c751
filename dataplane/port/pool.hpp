#pragma once
#include "lib/base/result.hpp"
#include "lib/rules/box_config.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

struct rte_mempool;

namespace sluice {

// The packet buffers of one pair. Each has a pool of its own: a flood that holds all buffers of one
// pair starves no other.
struct PoolPlan {
    std::uint32_t buffers = 0;
    std::uint16_t room = 0;  // bytes of each, headroom included

    // Bytes of DPDK memory on pages of `page` bytes, headers of the pool's objects included. An
    // object that fits into a page never crosses into the next one (rte_mempool).
    [[nodiscard]] std::uint64_t bytes(std::uint64_t page) const noexcept;
};

// Users of a pair's buffers.
struct PoolUsers {
    std::size_t queues = 1;  // of each port
    std::size_t workers = 1;
    bool rings = false;  // between workers
    // Ports whose driver loses the buffers of its fill queues whenever their interface is gone.
    std::size_t losing = 0;
};
[[nodiscard]] std::size_t losing_ports(const PairConfig& pair) noexcept;
// Frames of `mtu` bytes fit into one buffer, as far as one can be so long.
[[nodiscard]] PoolPlan plan_pool(const BoxConfig& box, const PoolUsers& users,
                                 std::uint16_t mtu) noexcept;

inline constexpr std::uint64_t kSmallPage = 4096;
inline constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;

// Memory that pools and ports together may need, in such pages, before the ports can be asked.
[[nodiscard]] std::uint64_t memory_needed(const BoxConfig& box, std::size_t workers,
                                          std::uint64_t page) noexcept;

// The pool of the pair whose outside is `port`, on the NUMA node `socket`.
[[nodiscard]] Result<rte_mempool*> make_pool(const PoolPlan& plan, const std::string& pair,
                                             std::uint16_t port, int socket);

}  // namespace sluice
