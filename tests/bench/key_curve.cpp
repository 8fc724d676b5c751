#include "tests/bench/mac_swap.hpp"
#include "tests/bench/pipeline_rows.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

// P8: P1's rule over fewer and over more sources than P1, and over packets that all have new ones.
namespace sluice::bench {
namespace {

// So slow that every bucket stays live also where each of the most sources comes once a second.
constexpr std::string_view kSlowRule = R"yaml(version: 1
rules:
  - id: per-source
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 10/m, burst: 1M}]
)yaml";

struct Sources {
    std::size_t count;  // 0: each packet has another one, and the table is full of live keys
    const char* name;
};
constexpr Sources kCurve[] = {
    {std::size_t{1} << 10, "2^10 sources"}, {std::size_t{1} << 16, "2^16 sources"},
    {std::size_t{1} << 20, "2^20 sources"}, {std::size_t{1} << 23, "2^23 sources"},
    {std::size_t{1} << 25, "2^25 sources"}, {0, "all new, a full table of 2^20"}};
constexpr std::size_t kMostOfIpv6 = PacketMill::kSources / 64;
constexpr std::size_t kTimesEach = 4;  // that a source has come before it is measured

void print_point(const Sources& sources, const Side& side, const Side& floor) {
    const std::string x = sources.count == 0 ? "\"all new\"" : std::to_string(sources.count);
    std::printf(
        "{\"id\": \"P8\", \"case\": \"%s\", \"value\": %.3f, \"unit\": \"Mpps\", \"reference\": "
        "\"MAC swap\", \"reference_value\": %.3f, \"ratio\": %.3f, \"rounds\": %s, "
        "\"reference_rounds\": %s, \"plot\": \"keys\", \"x\": %s, \"series\": \"pipeline, one "
        "rule\"}\n",
        sources.name, mpps(side), mpps(floor), mpps(side) / mpps(floor),
        list_of(side.rounds).c_str(), list_of(floor.rounds).c_str(), x.c_str());
    std::fflush(stdout);
}

void measure(const PipelineRun& run, const Sources& sources) {
    const bool are_new = sources.count == 0;
    PacketMill mill{are_new ? PacketMill::Headers::AnySource : PacketMill::Headers::Source};
    mill.draw_from(are_new ? PacketMill::kSources : sources.count);
    swap_addresses(mill, PacketMill::kMbufs / PacketMill::kBurst);  // each frame is sent once
    // The few IPv6 frames of the mix are of sources of their own.
    const std::size_t keys =
        are_new ? PacketMill::kSources : sources.count + std::min(sources.count, kMostOfIpv6);
    BenchWorker worker{mill, kSlowRule, keys};
    worker.run(kTimesEach * keys / PacketMill::kBurst);
    const std::size_t bursts = run.bursts();
    std::vector<Side> sides{
        {"MAC swap",
         [&] { return cpu_ns_per(run.packets(), [&] { swap_addresses(mill, bursts); }); }},
        side_of(sources.name, worker, bursts)};
    run_rounds(sides, kRounds);
    print_point(sources, sides[1], sides[0]);
    print_alone("P8", std::string{sources.name} + ": new keys that found no place",
                static_cast<double>(worker.found_full()) / static_cast<double>(worker.packets()),
                "of all packets");
    if (worker.refused() != 0) {
        print_alone("P8", std::string{sources.name} + ": refused, of none that should be",
                    static_cast<double>(worker.refused()), "packets");
    }
    tell_stages("P8", sources.name, worker, bursts / 4);
}

}  // namespace

void measure_key_curve(const PipelineRun& run) {
    for (const Sources& sources : kCurve) {
        measure(run, sources);
    }
}

}  // namespace sluice::bench
