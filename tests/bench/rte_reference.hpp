#pragma once
#include "tests/bench/keys.hpp"
#include "tests/bench/roof.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace sluice::bench {

// rte_hash bulk look-up and an rte_meter srTCM for each key: what DPDK offers for the job.
class RteReference {
public:
    // Keys 0 to `keys` - 1. Needs an initialised EAL.
    explicit RteReference(std::size_t keys);
    ~RteReference();
    RteReference(const RteReference&) = delete;
    RteReference& operator=(const RteReference&) = delete;

    void run(std::size_t bursts, Random& random);

private:
    struct State;
    std::unique_ptr<State> state_;
};

// Starts the EAL without ports. False: it would not.
bool start_eal();

}  // namespace sluice::bench
