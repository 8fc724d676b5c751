#include "lib/rules/box_config.hpp"
#include "tests/bench/bench_worker.hpp"
#include "tests/bench/cpus.hpp"
#include "tests/bench/merged_peers.hpp"
#include "tests/bench/rounds.hpp"
#include "tests/bench/rte_reference.hpp"
#include "tests/bench/source_accounts.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string>

// M1: the pipeline of one worker whose keys three others spend too, each key at the next one,
// beside the same pipeline with keys of its own. The others run on another core. Prints one JSON
// object a line.
namespace sluice::bench {
namespace {

constexpr std::size_t kWorkers = 4;

// As P1's: every bucket stays live, and none is exhausted.
const char* const kRule = R"yaml(version: 1
rules:
  - id: per-source
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 10/s, burst: 1M}]
)yaml";

// Of one worker, by event.
using Counts = std::array<std::uint64_t, kLedgerEventCount>;
Counts counts_of(const Ledger& ledger) {
    Counts counts;
    for (const LedgerEventRow& row : kLedgerEvents) {
        counts[static_cast<std::size_t>(row.event)] = ledger.counters().read(row.event);
    }
    return counts;
}

void print_counts(const Counts& before, const Counts& after, std::uint64_t packets) {
    std::printf("{\"id\": \"M1\", \"case\": \"ledger, for each packet\"");
    for (const LedgerEventRow& row : kLedgerEvents) {
        const auto at = static_cast<std::size_t>(row.event);
        std::printf(", \"%s\": %.4f", std::string{row.name}.c_str(),
                    static_cast<double>(after[at] - before[at]) / static_cast<double>(packets));
    }
    std::printf("}\n");
}

class Bench {
public:
    explicit Bench(std::size_t packets)
        : packets_{packets}, merged_{mill_, kRule, PacketMill::kSources} {
        merged_.share(lanes_, 0);
    }

    void run(int peer_cpu) {
        MergedPeers peers{{.lanes = lanes_,
                           .rows = merged_.rules().slots,
                           .limit = *gcra_of(merged_.rules().rules.front().limits.front().limit),
                           .interval = BoxConfig{}.merge_interval,
                           .accounts = accounts_by_owner(merged_, kWorkers),
                           .keys = PacketMill::kSources * 94 / 80},
                          peer_cpu};
        merged_.before_burst(
            [&](Instant now) { waited_ += peers.follow(now, MergedPeers::Charge::Everybodys); });
        // The others stay at the time of the latest merged burst: there is one clock.
        local_.before_burst([&](Instant) {
            if (others_busy_) {
                waited_ += peers.follow(merged_.now().at, MergedPeers::Charge::Own);
            }
        });
        const std::size_t bursts = packets_ / PacketMill::kBurst;
        // Every source has its bucket, with everybody, and has been charged for as long as an
        // amount may wait before it is told: from then on one round is like another.
        local_.run(bursts);
        merged_.run(std::max(bursts, kWarmUp));
        const Counts before = counts_of(*merged_.ledger());
        std::vector<Side> sides{{"merged", [&] { return ns_of(merged_, bursts, waited_merged_); }},
                                {"local", [&] { return local_ns(bursts, true, waited_local_); }},
                                {"idle", [&] { return local_ns(bursts, false, waited_idle_); }}};
        run_rounds(sides, kRounds);
        const Counts after = counts_of(*merged_.ledger());
        print(sides);
        print_counts(before, after, packets_ * kRounds);
        print_others(peers);
        local_.run_in_stages(bursts / 4);
        merged_.run_in_stages(bursts / 4);
        local_.print_stages("M1", "local");
        merged_.print_stages("M1", "merged");
    }

private:
    static constexpr int kRounds = 5;
    // Longer than amounts wait, by the worker's clock.
    static constexpr std::size_t kWarmUp = 5'000'000;

    // Without the time that the others were waited for: they share their core with whoever else
    // runs on this machine. Its shares are noted.
    double ns_of(BenchWorker& worker, std::size_t bursts, std::vector<double>& shares) {
        waited_ = 0;
        const double ns = cpu_ns_per(1, [&] { worker.run(bursts); });
        shares.push_back(waited_ / ns);
        return (ns - waited_) / static_cast<double>(packets_);
    }
    double local_ns(std::size_t bursts, bool others_busy, std::vector<double>& shares) {
        others_busy_ = others_busy;
        return ns_of(local_, bursts, shares);
    }
    // Both sides with the others at work: what they take of caches and memory is no cost of
    // merging. And beside it, keys of its own while nobody else does anything.
    static void print(const std::vector<Side>& sides) {
        print_beside(sides[0], sides[1], "4 workers, 2^20 keys", "local keys, the others as busy");
        print_beside(sides[0], sides[2], "the same beside an idle core",
                     "local keys, nobody else at work");
    }
    static void print_beside(const Side& merged, const Side& local, const char* name,
                             const char* reference) {
        std::printf(
            "{\"id\": \"M1\", \"case\": \"%s\", \"value\": %.3f, \"unit\": "
            "\"Mpps\", \"reference\": \"%s\", \"reference_value\": %.3f, \"ratio\": %.3f, "
            "\"rounds\": %s, \"reference_rounds\": %s}\n",
            name, 1000 / merged.median(), reference, 1000 / local.median(),
            local.median() / merged.median(), list_of(merged.rounds).c_str(),
            list_of(local.rounds).c_str());
    }
    void print_others(const MergedPeers& peers) const {
        std::printf(
            "{\"id\": \"M1\", \"case\": \"the others\", \"refused\": %lu, \"ring_full\": %lu, "
            "\"held_back\": %lu, \"dropped_here\": %.6f, \"waited_for\": %s, "
            "\"waited_for_by_local\": %s}\n",
            peers.refused(), peers.counted(LedgerEvent::RingFull),
            peers.counted(LedgerEvent::HeldBack), merged_.dropped(),
            list_of(waited_merged_).c_str(), list_of(waited_local_).c_str());
    }

    std::size_t packets_;
    Links links_{kWorkers, {.merge = link_sizes(kWorkers).merge}};
    DeltaLanes lanes_{links_};
    PacketMill mill_;
    BenchWorker local_{mill_, kRule, PacketMill::kSources};
    BenchWorker merged_;
    double waited_ = 0;
    bool others_busy_ = false;
    std::vector<double> waited_merged_;  // shares of the rounds
    std::vector<double> waited_local_;
    std::vector<double> waited_idle_;
};

int run(bool quick) {
    const std::vector<int> cpus = usable_cpus();
    if (cpus.size() < 2) {
        std::fprintf(stderr, "two cores are needed, so that lines cross between them\n");
        return 1;
    }
    if (!start_eal()) {
        return 1;
    }
    pin_to(cpus.back());
    Bench{quick ? std::size_t{1} << 23 : std::size_t{1} << 25}.run(cpus.front());
    return 0;
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** arguments) {
    return sluice::bench::run(count > 1 && std::strcmp(arguments[count - 1], "--quick") == 0);
}
