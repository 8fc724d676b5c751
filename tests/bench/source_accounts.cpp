#include "tests/bench/source_accounts.hpp"

#include "lib/rules/load/meter_plan.hpp"

#include <span>

namespace sluice::bench {

Account account_of_source(const BenchWorker& worker, std::uint32_t number) {
    const MeterPlan& plan = worker.rules().meter_plan;
    const LimitPlan& limit = plan.limits.front();
    const std::uint64_t source = __builtin_bswap32(number | 0x0A00'0000U);
    const std::uint64_t key = plan.schemas[limit.schema].fixed.front().header_v4 | source << 32;
    const std::uint64_t digest = worker.hash().digest(std::as_bytes(std::span{&key, 1}));
    return {KeyHasher::key_from(limit.start, digest).hash, limit.slot, 0};
}

std::vector<std::vector<Account>> accounts_by_owner(const BenchWorker& worker,
                                                    std::size_t workers) {
    std::vector<std::vector<Account>> accounts(workers);
    for (std::uint32_t number = 0; number < PacketMill::kSources; ++number) {
        const Account account = account_of_source(worker, number);
        accounts[owner_of(account, workers)].push_back(account);
    }
    return accounts;
}

}  // namespace sluice::bench
