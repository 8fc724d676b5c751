#include "tests/bench/mac_swap.hpp"
#include "tests/bench/pipeline_rows.hpp"

#include <vector>

namespace sluice::bench {
namespace {

constexpr std::string_view kOffRule = R"yaml(version: 1
rules:
  - id: per-source
    mode: off
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 10/s, burst: 1M}]
)yaml";

struct Case {
    const char* name;
    PacketMill::Mix mix;
    std::string_view rules;
};
constexpr Case kCases[] = {
    {"frames that are not IP", PacketMill::Mix::NotIp, kOneRule},
    {"malformed frames", PacketMill::Mix::Malformed, kOneRule},
    {"all rules off", PacketMill::Mix::Usual, kOffRule},
};

}  // namespace

void measure_unjudged(const PipelineRun& run) {
    const std::size_t bursts = run.bursts();
    for (const Case& each : kCases) {
        PacketMill mill{PacketMill::Headers::PerSource, each.mix};
        BenchWorker worker{mill, each.rules, PacketMill::kSources};
        worker.run(bursts / 4);
        std::vector<Side> sides{
            {"MAC swap",
             [&] { return cpu_ns_per(run.packets(), [&] { swap_addresses(mill, bursts); }); }},
            side_of(each.name, worker, bursts)};
        run_rounds(sides, kRounds);
        print_speed("P7", sides[1].name, sides[1], "MAC swap", mpps(sides[0]));
        tell_stages("P7", sides[1].name, worker, bursts / 4);
    }
}

}  // namespace sluice::bench
