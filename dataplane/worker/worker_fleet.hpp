#pragma once
#include "dataplane/io/lane_set.hpp"
#include "dataplane/state/box_state.hpp"
#include "dataplane/worker/dpdk_worker.hpp"
#include "dataplane/worker/full_watch.hpp"
#include "dataplane/worker/watchdog.hpp"
#include "lib/bucket/table/worker_tables.hpp"
#include "lib/engine/burst/counters.hpp"
#include "lib/rules/box_config.hpp"
#include "lib/rules/load/loaded_set.hpp"
#include "lib/rules/load/rule_rows.hpp"
#include "lib/share/core.hpp"
#include "lib/watch/events/key_events.hpp"
#include "lib/watch/events/new_bans.hpp"
#include "lib/watch/heatmap/heat_sampler.hpp"
#include "lib/watch/top/key_sampler.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace sluice {

// The workers, one on each lcore but the first, with what they write: lanes, counters, samples,
// deltas to each other. Other threads read counters, and put questions into mailboxes.
class WorkerFleet {
public:
    // A worker without a burst for as long as `stall` is reported.
    WorkerFleet(std::vector<unsigned> lcores, Nanoseconds stall);

    // Parts that workers are made of, besides their lanes.
    struct Parts {
        const BoxConfig& box;
        BoxState& state;
        const LoadedSet& rules;  // in force when the first burst comes
        const Published<Running>& running;
        QuiesceBoard& board;
        const Latest<TimeOfDay>& time_of_day;
        bool notify_bans = false;  // to somebody who reads new_bans()
    };
    // Every worker, over the started ports and with the buckets that were left behind.
    void make(const Ports& ports, const Parts& parts);
    // DpdkWorker::run() on every lcore.
    void launch();
    // Ends the workers; their counters stay.
    void stop();
    // Reports workers whose heartbeat stands still, and those without room for half heads.
    void watch();

    // For whoever tells the store of the box's cluster; opened before workers are made.
    [[nodiscard]] DeltaLanes& amounts() noexcept { return peers_.amounts; }
    [[nodiscard]] AskLanes& questions() noexcept { return peers_.questions; }
    [[nodiscard]] std::size_t size() const noexcept { return lcores_.size(); }
    [[nodiscard]] bool is_made() const noexcept { return !workers_.empty(); }
    [[nodiscard]] unsigned lcore(std::size_t worker) const { return lcores_[worker]; }
    // The buckets, for anybody who reads them as other threads may.
    [[nodiscard]] const BucketStore& buckets(std::size_t worker) const {
        return workers_[worker]->buckets();
    }
    [[nodiscard]] DpdkWorker::KeyMailbox& keys(std::size_t worker) {
        return workers_[worker]->keys();
    }
    [[nodiscard]] DpdkWorker::PacketMailbox& packets(std::size_t worker) {
        return workers_[worker]->packets();
    }
    [[nodiscard]] std::vector<std::unique_ptr<KeySampler>>& samplers() noexcept {
        return samplers_;
    }
    [[nodiscard]] std::vector<std::unique_ptr<KeyEvents>>& events() noexcept { return events_; }
    [[nodiscard]] std::vector<std::unique_ptr<HeatSampler>>& heat() noexcept { return heat_; }
    // New bans of each worker; empty: they tell nobody.
    [[nodiscard]] std::vector<std::unique_ptr<NewBans>>& new_bans() noexcept { return new_bans_; }
    // Over all workers, those that found no place there.
    [[nodiscard]] std::uint64_t lost_bans() const;
    // Buckets that have been forgiven what they owed, at all workers.
    [[nodiscard]] std::uint64_t debts_forgiven() const;

    // Over all workers: the counters of a rule, the uses of a slot, the changes that every
    // table has been brought up to, the worst excess of a shared limit, and `former` and `moved`
    // debts.
    [[nodiscard]] RuleTotals read_row(std::uint32_t row) const;
    [[nodiscard]] std::uint64_t uses_of(LimitSlot slot) const;
    // Live entries of a limit in all tables.
    [[nodiscard]] std::uint64_t entries_of(LimitSlot slot) const;
    // Keys that it refuses now, of a rule that reports that of its keys; once for each worker.
    [[nodiscard]] std::uint64_t limited_by(LimitSlot slot) const;
    // Connections that the limit counts now.
    [[nodiscard]] std::uint64_t open_connections(LimitSlot slot) const;
    [[nodiscard]] std::uint64_t settled() const;
    [[nodiscard]] std::uint64_t worst_excess(LimitSlot slot) const;
    void add_debts(StateStats& stats) const;
    // Each side's trust at the worker that trusts it most.
    [[nodiscard]] ServiceChecksums checksums_of(const Service& service) const;
    [[nodiscard]] WorkerStats stats(std::size_t worker) const;
    // Grows with every round of that worker; of a thread of its own.
    [[nodiscard]] std::uint64_t rounds(std::size_t worker) const {
        return counters_[worker].bursts.read();
    }
    [[nodiscard]] std::uint64_t tx_full(std::uint16_t port) const { return lanes_->tx_full(port); }

private:
    [[nodiscard]] std::chrono::milliseconds uptime() const;
    void watch_half_heads(std::size_t worker);

    std::vector<unsigned> lcores_;
    Nanoseconds stall_;
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
    std::vector<WorkerCounters> counters_;
    std::vector<Watchdog> watchdogs_;
    std::vector<FullWatch> half_heads_;
    PeerLanes peers_;
    AnswerBoards answer_boards_;
    std::vector<std::unique_ptr<KeySampler>> samplers_;
    std::vector<std::unique_ptr<KeyEvents>> events_;
    std::vector<std::unique_ptr<HeatSampler>> heat_;
    std::vector<std::unique_ptr<NewBans>> new_bans_;
    std::optional<LaneSet> lanes_;
    Signal stop_;
    std::vector<std::unique_ptr<DpdkWorker>> workers_;
    std::unique_ptr<WorkerTables> tables_;
};

}  // namespace sluice
