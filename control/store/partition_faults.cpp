#include "control/store/partition_faults.hpp"

#include <fmt/format.h>

namespace sluice {
namespace {

constexpr std::uint64_t kAgainUs = 1'000'000;

}  // namespace

bool PartitionFaults::take(std::uint16_t partition, Of of, std::string_view error,
                           std::uint64_t now_us) {
    if (is_known_fault(error)) {
        return false;
    }
    faults_.insert_or_assign(partition, Fault{of, store_fault_of(error), now_us + kAgainUs});
    return true;
}

void PartitionFaults::end(std::uint16_t partition, Of of) {
    const auto at = faults_.find(partition);
    if (at != faults_.end() && at->second.of == of) {
        faults_.erase(at);
    }
}

bool PartitionFaults::holds_back(std::uint16_t partition, std::uint64_t now_us) const {
    const auto at = faults_.find(partition);
    return at != faults_.end() && now_us < at->second.again_us;
}

std::vector<std::uint16_t> PartitionFaults::due_clocks(std::uint64_t now_us) {
    std::vector<std::uint16_t> due;
    for (auto& [partition, fault] : faults_) {
        if (fault.of == Of::Clock && now_us >= fault.again_us) {
            fault.again_us = now_us + kAgainUs;
            due.push_back(partition);
        }
    }
    return due;
}

std::optional<StoreFault> PartitionFaults::fault(std::uint16_t partitions) const {
    if (faults_.empty()) {
        return std::nullopt;
    }
    const auto& [partition, first] = *faults_.begin();
    return StoreFault{StoreLinkState::Refused,
                      fmt::format("{} of {} partitions cannot be used; {}: {}", faults_.size(),
                                  partitions, partition, first.fault.why)};
}

}  // namespace sluice
