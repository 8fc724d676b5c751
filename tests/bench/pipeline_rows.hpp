#pragma once
#include "tests/bench/bench_worker.hpp"
#include "tests/bench/rounds.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

// What the rows of pipeline_bench share, and the functions that print them, one JSON object a line.
namespace sluice::bench {

struct PipelineRun {
    std::string rule_file;  // of P5
    bool quick = false;

    // That a side sends through in each round.
    [[nodiscard]] std::size_t packets() const noexcept {
        return quick ? std::size_t{1} << 22 : std::size_t{1} << 24;
    }
    [[nodiscard]] std::size_t bursts() const noexcept { return packets() / PacketMill::kBurst; }
};
inline constexpr int kRounds = 5;
inline constexpr double kLineRate = 14.88;  // Mpps: 10 Gbit/s of 64-byte frames
inline constexpr std::string_view kLineRateName = "10 Gbit/s line rate";

// P1's rule: slower than packets come, so that every bucket stays live, and never exhausted.
inline constexpr std::string_view kOneRule = R"yaml(version: 1
rules:
  - id: per-source
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 10/s, burst: 1M}]
)yaml";

// P1: one rule, admitting and refusing, beside the line rate. P2: what it adds to a MAC swap.
void measure_one_rule(const PipelineRun& run);
// P5: a rule file over 2^20 whole flows, admitting and refusing, beside P1's rule.
void measure_rule_file(const PipelineRun& run);
// P6: eleven shapes of rules, each beside P1's.
void measure_shapes(const PipelineRun& run);
// P7: frames that no rule judges, beside a MAC swap of the same frames.
void measure_unjudged(const PipelineRun& run);
// P8: the curve over sources, from 2^10 to 2^25 and all new.
void measure_key_curve(const PipelineRun& run);
// A3: what packets pay for a rule that holds or answers other ones, beside one that drops those.
void measure_unconcerned(const PipelineRun& run);
// V1: P1 with a heat map of its rule, beside the same without.
void measure_maps(const PipelineRun& run);
// V1: P1 while a draft of its rule is previewed, beside the same without.
void measure_preview(const PipelineRun& run);

// A worker whose tables are as full as they are meant to be under these rules: it has room for the
// buckets that the mill's frames make in `bursts`, and has seen as many already.
[[nodiscard]] std::unique_ptr<BenchWorker> warm_worker(PacketMill& mill, const BenchRules& rules,
                                                       std::size_t bursts);
// One side of a comparison: what a packet costs this worker, in time that its thread ran.
[[nodiscard]] Side side_of(std::string name, BenchWorker& worker, std::size_t bursts);

// A row in Mpps beside a reference in Mpps; both sides have been measured.
void print_speed(std::string_view id, const std::string& name, const Side& side,
                 std::string_view reference_name, double reference);
// One without a reference, in `unit`.
void print_alone(std::string_view id, const std::string& name, double value, std::string_view unit);
// The same of a side that was measured in rounds.
void print_alone(std::string_view id, const std::string& name, const Side& side,
                 std::string_view unit);
[[nodiscard]] inline double mpps(const Side& side) {
    return 1000 / side.median();
}
// Cycles of each stage, to standard error.
void tell_stages(std::string_view id, const std::string& name, BenchWorker& worker,
                 std::size_t bursts);

}  // namespace sluice::bench
