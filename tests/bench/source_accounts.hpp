#pragma once
#include "lib/peer/merge/account.hpp"
#include "tests/bench/bench_worker.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::bench {

// What a mill's source of that number is charged to under a worker's first rule, which is keyed by
// ip.src alone.
[[nodiscard]] Account account_of_source(const BenchWorker& worker, std::uint32_t number);

// Of all sources of a mill, by which of so many workers owns them.
[[nodiscard]] std::vector<std::vector<Account>> accounts_by_owner(const BenchWorker& worker,
                                                                  std::size_t workers);

}  // namespace sluice::bench
