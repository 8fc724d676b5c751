#pragma once
#include "lib/engine/burst/adopt.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/engine/worker/running.hpp"
#include "lib/peer/merge/ledger_store.hpp"

#include <cstddef>
#include <span>

namespace sluice {

// One worker's part in limits that several spend: what others have charged, and what they are to
// know of its own.
class LedgerExchange {
public:
    // `records` and `buckets`, which are the worker's, outlive it.
    LedgerExchange(std::size_t self, DeltaLanes& lanes, std::span<Record> records,
                   BucketStore& buckets)
        : store_{buckets},
          ledger_{self, lanes, records, Instant{}},
          gauges_{lanes.store(self), kGaugeKeys, kSlots} {
        store_.set_gauges(&gauges_);
        buckets.set_unsynced(&ledger_.records());
    }

    // Before the first burst under these rules.
    void adopt_rules(const LoadedSet& rules, CoreState& core) noexcept {
        const bool shares = rules.shared_limits != 0 || rules.counts_gauges;
        core.ledger = shares ? &ledger_ : nullptr;
        if (rules.load != load_) {
            load_ = rules.load;
            ledger_.set_cluster(rules.cluster_bounds);
            gauges_.set_cluster(rules.cluster_bounds);
        }
        core.gauges = rules.counts_gauges ? &gauges_ : nullptr;
        on_ |= rules.syncs;
    }
    // On from the first shared limit: others may still wait for an answer when the last has gone.
    [[nodiscard]] bool on() const noexcept { return on_; }

    // Between two bursts.
    void run(const Running& running, CoreState& core, Now now) noexcept {
        // The rows that its books point to may be gone.
        adopt(running.rules(), core, now);
        ledger_.set(running.loaded->merge_interval(),
                    running.rules().hurries ? Ledger::kNoLonger : Ledger::kLongestWait);
        ledger_.exchange(store_, now);
        ledger_.ask(store_);
    }

    // Anyone may read these.
    [[nodiscard]] const LedgerCounters& counters() const noexcept { return ledger_.counters(); }
    [[nodiscard]] const LedgerStore& store() const noexcept { return store_; }

private:
    // Keys of which a worker tells the store how many connections are open.
    static constexpr std::size_t kGaugeKeys = std::size_t{1} << 16;

    LedgerStore store_;
    Ledger ledger_;
    ConnectionGauges gauges_;
    bool on_ = false;
    std::uint64_t load_ = 0;  // of the rules whose limits of the cluster the ledger knows
};

}  // namespace sluice
