#pragma once
#include "dataplane/xdp/pair_state.h"
#include "lib/base/result.hpp"
#include "lib/rules/box_config.hpp"
#include "lib/wire/fd.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace sluice {

// The memory that the programs of a pair share with the box. It is pinned, and taken over from the
// box before with what was counted.
class PairMap {
public:
    PairMap() = default;
    [[nodiscard]] static Result<PairMap> open(const std::string& folder,
                                              const KernelOptions& kernel);
    ~PairMap();
    PairMap(PairMap&& other) noexcept;
    PairMap& operator=(PairMap&& other) noexcept;
    PairMap(const PairMap&) = delete;
    PairMap& operator=(const PairMap&) = delete;

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    // `now`: CLOCK_MONOTONIC, in ns. By a thread of its own.
    void beat(std::uint64_t now) noexcept;
    // Lets the programs act as if no box was there, from now on.
    void end() noexcept;
    [[nodiscard]] std::uint64_t last_beat() const noexcept;
    // How many packets of both ports were bridged since the last call, of this box or one before.
    [[nodiscard]] std::uint64_t take_news() noexcept;
    [[nodiscard]] sluice_port_counts counts(std::size_t side) const noexcept;

private:
    Fd fd_;
    sluice_pair_state* state_ = nullptr;
};

}  // namespace sluice
