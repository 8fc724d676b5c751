#include "control/cli/replay/worker_set.hpp"

#include "lib/pipeline/run_burst.hpp"

namespace sluice {
namespace {

constexpr std::size_t kBuckets = std::size_t{1} << 20;  // of each worker
constexpr HashSecret kSecret{0x736C'7569'6365'2D74, 0x6162'6C65'2D6B'6579};

}  // namespace

WorkerSet::Worker::Worker(const PacketPolicy& policy)
    : core{.policy = policy,
           .hash = KeyHasher{kSecret},
           .buckets = BucketTable{kBuckets},
           .scratch = {},
           .counters = counters} {}

WorkerSet::WorkerSet(const ReplaySetup& setup, const RuleSet& rules)
    : setup_{setup}, rules_{rules}, port_{setup.pair.empty() ? 0 : port_name(setup.pair)} {
    for (std::size_t i = 0; i < setup.workers; ++i) {
        workers_.push_back(std::make_unique<Worker>(setup.policy));
    }
}

const Packet* WorkerSet::receive(const CapturedFrame& frame) {
    const FrameView view{frame.bytes, frame.wire_size};
    Flow outer;
    parse_frame(view, Tunnels{}, outer);
    const Direction dir = direction_of(outer, setup_.inside);
    const RssInput rss = dir == Direction::In ? setup_.rss_outside : setup_.rss_inside;
    Burst& burst = workers_[worker_of(outer, rss, workers_.size())]->burst;
    burst.add(view, dir, port_);
    return &burst.packets().back();
}

const std::vector<const Packet*>& WorkerSet::judge(std::span<KeptFrame> frames, Instant now) {
    rows_.clear();
    for (const auto& worker : workers_) {
        worker->burst.clear();
    }
    for (const KeptFrame& kept : frames) {
        rows_.push_back(receive(kept.frame()));
    }
    for (const auto& worker : workers_) {
        if (worker->burst.size() > 0) {
            run_burst(worker->burst, rules_, worker->core, now);
        }
    }
    return rows_;
}

RuleTotals WorkerSet::totals(const Rule& rule) const {
    RuleTotals totals;
    for (const auto& worker : workers_) {
        const RuleCounters& counters = worker->counters.rules[rule.counters];
        totals.admitted += counters.admitted.read();
        totals.exceeded += counters.exceeded.read();
        totals.skipped += counters.skipped.read();
    }
    return totals;
}

std::uint64_t WorkerSet::table_full() const {
    std::uint64_t total = 0;
    for (const auto& worker : workers_) {
        total += worker->counters.table_full.read();
    }
    return total;
}

}  // namespace sluice
