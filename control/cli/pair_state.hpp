#pragma once
#include <cstdint>

namespace sluice {

// The beginning of sluice_pair_state (dataplane/xdp/pair_state.h), which the program at an
// interface goes by. A test holds the two together.
struct PairState {
    static constexpr std::uint64_t kLayout = 2;
    std::uint64_t layout = 0;
    std::uint64_t beat = 0;       // CLOCK_MONOTONIC, ns; 0: no box has beaten yet
    std::uint64_t heartbeat = 0;  // ns without a beat after which the box counts as gone
    std::uint64_t fail_open = 0;  // 1: the programs bridge then; 0: they drop
};

}  // namespace sluice
