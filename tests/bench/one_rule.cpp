#include "tests/bench/mac_swap.hpp"
#include "tests/bench/pipeline_rows.hpp"

#include <cstdio>
#include <vector>

namespace sluice::bench {
namespace {

// Of 2^20 sources each comes about 30 times a second of the harness's clock.
constexpr std::string_view kRefusing = R"yaml(version: 1
rules:
  - id: per-source
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 3/s, burst: 1}]
)yaml";

void print_added(const std::string& name, const Side& side, double floor, double roof) {
    const double added = side.median() - floor;
    std::printf(
        "{\"id\": \"P2\", \"case\": \"%s\", \"value\": %.3f, \"unit\": \"ns added per packet\", "
        "\"reference\": \"one roof access\", \"reference_value\": %.3f, \"ratio\": %.3f, "
        "\"rounds\": %s}\n",
        name.c_str(), added, roof, added / roof, list_of(side.rounds).c_str());
}

}  // namespace

void measure_one_rule(const PipelineRun& run) {
    PacketMill mill;
    BenchWorker admitting{mill, kOneRule, PacketMill::kSources};
    BenchWorker refusing{mill, kRefusing, PacketMill::kSources};
    Roof roof{PacketMill::kSources * 20};
    Random random{11};
    const std::size_t packets = 2 * run.packets();
    const std::size_t bursts = packets / PacketMill::kBurst;
    std::vector<Side> sides{
        {"MAC swap", [&] { return cpu_ns_per(packets, [&] { swap_addresses(mill, bursts); }); }},
        side_of("all admitted", admitting, bursts),
        side_of("90% dropped", refusing, bursts),
        {"roof", [&] { return cpu_ns_per(packets, [&] { roof.within_bursts(bursts, random); }); }}};
    // Every source has a bucket, and the clock of the refusing one has left its start.
    admitting.run(bursts);
    refusing.run(bursts);
    run_rounds(sides, kRounds);
    for (const Side* side : {&sides[1], &sides[2]}) {
        const std::string name = side->name + ", 2^20 sources";
        print_speed("P1", name, *side, kLineRateName, kLineRate);
        print_added(name, *side, sides[0].median(), sides[3].median());
    }
    print_alone("P", "MAC swap", sides[0], "Mpps");
    print_alone("P", "share dropped where all are admitted", admitting.dropped(), "of all packets");
    print_alone("P", "share dropped where 90% are", refusing.dropped(), "of all packets");
    tell_stages("P1", "all admitted", admitting, bursts / 4);
    tell_stages("P1", "90% dropped", refusing, bursts / 4);
}

}  // namespace sluice::bench
