#include "lib/watch/heatmap/heat_collector.hpp"
#include "tests/bench/pipeline_rows.hpp"

#include <cstdio>
#include <memory>
#include <string>

// V1: what packets pay for a heat map of their rule.
namespace sluice::bench {
namespace {

// P1's rule, with or without a map; or one that refuses nine packets in ten.
std::string rule_of(std::string_view limit, bool has_map) {
    return "version: 1\nrules:\n  - {id: per-source, mode: enforce, key: [ip.src], " +
           std::string{has_map ? "heatmap: on, " : ""} + "limits: [{algorithm: token_bucket, " +
           std::string{limit} + "}]}\n";
}

// A worker whose keys are sampled. The main lcore turns its epochs, which another thread does in a
// box: between rounds, each of which is an epoch.
class WatchedWorker {
public:
    WatchedWorker(PacketMill& mill, const std::string& rules)
        : worker_{mill, rules, PacketMill::kSources}, collector_{{&heat_}} {
        worker_.watch(heat_);
        collector_.adopt(worker_.rules(), 1);
    }
    [[nodiscard]] BenchWorker& worker() noexcept { return worker_; }
    void end_epoch() {
        worker_.wait(HeatCollector::kEpoch);
        for (int step = 0; step < 2; ++step) {
            collector_.tick(worker_.now(), [](std::uint64_t) { return std::string{}; });
            worker_.begin_turn();
        }
    }
    // Until as many keys are watched as there is room for.
    void warm(std::size_t bursts) {
        for (int epoch = 0; epoch < 6; ++epoch) {
            worker_.run(bursts);
            end_epoch();
        }
    }
    [[nodiscard]] HeatEpoch latest() const {
        const std::vector<HeatEpoch> epochs = collector_.after(collector_.latest() - 1, 1);
        return epochs.empty() ? HeatEpoch{} : epochs.front();
    }

private:
    HeatSampler heat_;
    BenchWorker worker_;
    HeatCollector collector_;
};

void measure_map(PacketMill& mill, std::string_view name, std::string_view limit,
                 const PipelineRun& run) {
    const std::size_t packets = 2 * run.packets();
    const std::size_t bursts = packets / PacketMill::kBurst;
    BenchWorker plain{mill, rule_of(limit, false), PacketMill::kSources};
    WatchedWorker watched{mill, rule_of(limit, true)};
    plain.run(bursts);
    watched.warm(bursts / 4);
    const auto round = [&](BenchWorker& worker) {
        return cpu_ns_per(packets, [&] { worker.run(bursts); });
    };
    std::vector<Side> sides{{"without a map",
                             [&] {
                                 plain.wait(HeatCollector::kEpoch);
                                 return round(plain);
                             }},
                            {"with a map", [&] {
                                 watched.end_epoch();
                                 return round(watched.worker());
                             }}};
    run_rounds(sides, kRounds);
    watched.end_epoch();
    print_speed("V1", std::string{name} + ", a map on the rule", sides[1], "without a map",
                mpps(sides[0]));
    for (const HeatLimit& one : watched.latest().limits) {
        std::fprintf(stderr, "  V1 %s: one key in 2^%u, %zu keys, %zu named\n",
                     std::string{name}.c_str(), unsigned{one.sampling_bits}, one.samples.size(),
                     one.names.size());
    }
}

}  // namespace

void measure_maps(const PipelineRun& run) {
    PacketMill mill;
    measure_map(mill, "all admitted, 2^20 sources", "rate: 10/s, burst: 1M", run);
    measure_map(mill, "90% dropped, 2^20 sources", "rate: 3/s, burst: 1", run);
}

}  // namespace sluice::bench
