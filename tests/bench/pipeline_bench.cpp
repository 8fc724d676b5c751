#include "tests/bench/bench_worker.hpp"
#include "tests/bench/roof.hpp"
#include "tests/bench/rounds.hpp"
#include "tests/bench/rte_reference.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <rte_cycles.h>
#include <rte_mbuf.h>

// P1 and P2: the whole pipeline of one lcore in process, beside the same harness that only swaps
// MAC addresses, and beside the limit that memory sets. Prints one JSON object a line.
namespace sluice::bench {
namespace {

constexpr double kLineRate = 14.88;  // Mpps: 10 Gbit/s of 64-byte frames
constexpr std::size_t kBurst = PacketMill::kBurst;

// Slower than they come, so that every bucket stays live, and never exhausted.
const char* const kAdmitted = R"yaml(version: 1
rules:
  - id: per-source
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 10/s, burst: 1M}]
)yaml";
// Of 2^20 sources each comes about 30 times a second of the harness's clock.
const char* const kDropped = R"yaml(version: 1
rules:
  - id: per-source
    mode: enforce
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 3/s, burst: 1}]
)yaml";

// The floor: nothing but the harness and six bytes swapped with six.
void swap_addresses(PacketMill& mill, std::size_t bursts) {
    PacketMill::Frames frames;
    for (std::size_t i = 0; i < bursts; ++i) {
        mill.receive(frames);
        for (rte_mbuf* frame : frames) {
            __builtin_prefetch(rte_pktmbuf_mtod(frame, void*));
        }
        for (rte_mbuf* frame : frames) {
            auto* at = rte_pktmbuf_mtod(frame, std::uint8_t*);
            std::uint8_t other[6];
            std::memcpy(other, at, sizeof(other));
            std::memcpy(at, at + 6, sizeof(other));
            std::memcpy(at + 6, other, sizeof(other));
        }
        mill.send(frames);
    }
}

void print(const char* id, const char* name, double value, const char* unit, double reference,
           const char* reference_name, double ratio, const Side& side) {
    std::printf(
        "{\"id\": \"%s\", \"case\": \"%s\", \"value\": %.3f, \"unit\": \"%s\", \"reference\": "
        "\"%s\", \"reference_value\": %.3f, \"ratio\": %.3f, \"rounds\": %s}\n",
        id, name, value, unit, reference_name, reference, ratio, list_of(side.rounds).c_str());
}

int run(bool quick) {
    if (!start_eal()) {
        return 1;
    }
    PacketMill mill;
    BenchWorker admitted{mill, kAdmitted, PacketMill::kSources};
    BenchWorker dropped{mill, kDropped, PacketMill::kSources};
    Roof roof{PacketMill::kSources * 20};
    Random random{11};
    const std::size_t packets = quick ? std::size_t{1} << 23 : std::size_t{1} << 25;
    const std::size_t bursts = packets / kBurst;
    std::vector<Side> sides{
        {"MAC swap", [&] { return ns_per(packets, [&] { swap_addresses(mill, bursts); }); }},
        {"all admitted", [&] { return ns_per(packets, [&] { admitted.run(bursts); }); }},
        {"90% dropped", [&] { return ns_per(packets, [&] { dropped.run(bursts); }); }},
        {"roof", [&] { return ns_per(packets, [&] { roof.within_bursts(bursts, random); }); }}};
    // Every source has a bucket, and the clock of the dropping one has left its start.
    admitted.run(bursts);
    dropped.run(bursts);
    run_rounds(sides, 5);
    admitted.run_in_stages(bursts / 4);
    dropped.run_in_stages(bursts / 4);
    const double floor = sides[0].median();
    const double roof_ns = sides[3].median();
    for (const Side* side : {&sides[1], &sides[2]}) {
        const std::string name = side->name + ", 2^20 sources";
        const double mpps = 1000 / side->median();
        print("P1", name.c_str(), mpps, "Mpps", kLineRate, "10 Gbit/s line rate", mpps / kLineRate,
              *side);
        const double added = side->median() - floor;
        print("P2", name.c_str(), added, "ns added per packet", roof_ns, "one roof access",
              added / roof_ns, *side);
    }
    std::printf(
        "{\"id\": \"P\", \"case\": \"MAC swap\", \"value\": %.2f, \"unit\": \"Mpps\", "
        "\"rounds\": %s}\n",
        1000 / floor, list_of(sides[0].rounds).c_str());
    std::printf(
        "{\"id\": \"P\", \"case\": \"share dropped\", \"admitted\": %.3f, \"dropped\": %.3f}\n",
        admitted.dropped(), dropped.dropped());
    admitted.print_stages("all admitted");
    dropped.print_stages("90% dropped");
    return 0;
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** arguments) {
    return sluice::bench::run(count > 1 && std::strcmp(arguments[count - 1], "--quick") == 0);
}
