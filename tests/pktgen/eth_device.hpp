#pragma once
#include "lib/base/result.hpp"
#include "tests/pktgen/options.hpp"

#include <cstdint>
#include <string>

struct rte_mempool;

namespace sluice::pktgen {

// The EAL of one lcore, with the devices of both ports.
[[nodiscard]] Result<Done> start_eal_for(const Options& options);

// A started port.
struct EthDevice {
    std::uint16_t id = 0;
    std::string name;
    [[nodiscard]] static Result<EthDevice> start(const std::string& device, std::uint16_t queues,
                                                 rte_mempool* buffers);
    // Mbit/s; 0: it has no link, or does not know how fast.
    [[nodiscard]] std::uint32_t link_speed() const;
    [[nodiscard]] bool has_link() const;
    void stop() const;
};

[[nodiscard]] Result<rte_mempool*> make_buffers(const Options& options);

}  // namespace sluice::pktgen
