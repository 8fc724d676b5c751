#pragma once
#include "control/store/store_fault.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace sluice {

// Partitions that the store has an error about while it answers otherwise, such as a key of
// somebody else in a partition's place: each is asked again once a second, and the connection goes
// on.
class PartitionFaults {
public:
    enum class Of : std::uint8_t { Clock, Batch };  // the call that failed

    // False: the error is of the store, whatever the partition.
    [[nodiscard]] bool take(std::uint16_t partition, Of of, std::string_view error,
                            std::uint64_t now_us);
    // A call of that sort was answered: its fault is over.
    void end(std::uint16_t partition, Of of);
    void clear() noexcept { faults_.clear(); }

    // A batch of the partition waits a little longer.
    [[nodiscard]] bool holds_back(std::uint16_t partition, std::uint64_t now_us) const;
    // Partitions whose clock is to be asked for again; their next time is a second later.
    [[nodiscard]] std::vector<std::uint16_t> due_clocks(std::uint64_t now_us);
    // The faults in one line; nullopt: there are none.
    [[nodiscard]] std::optional<StoreFault> fault(std::uint16_t partitions) const;

private:
    struct Fault {
        Of of = Of::Clock;
        StoreFault fault;
        std::uint64_t again_us = 0;
    };
    std::map<std::uint16_t, Fault> faults_;
};

}  // namespace sluice
