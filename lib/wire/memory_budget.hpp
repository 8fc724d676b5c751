#pragma once
#include <cstddef>
#include <cstdint>

namespace sluice {

// Memory that a message may take: an allocation that fails ends the process, so whoever reads for
// one that must go on says beforehand how much there is.
struct MemoryBudget {
    std::uint64_t bytes = UINT64_MAX;
    std::size_t workers = 1;  // that have memory of their own for a rule set
};

}  // namespace sluice
