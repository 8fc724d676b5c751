#include "lib/pipeline/run_burst.hpp"
#include "lib/policy/compile.hpp"
#include "lib/rules/limit_numbers.hpp"
#include "tests/bench/packet_mill.hpp"
#include "tests/bench/roof.hpp"
#include "tests/bench/rounds.hpp"
#include "tests/bench/rte_reference.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include <rte_cycles.h>
#include <rte_mbuf.h>

// P1 and P2: the whole pipeline of one lcore in process, beside the same harness that only swaps
// MAC addresses, and beside the limit that memory sets. Prints one JSON object a line.
namespace sluice::bench {
namespace {

using namespace std::chrono_literals;

constexpr double kLineRate = 14.88;  // Mpps: 10 Gbit/s of 64-byte frames
constexpr std::size_t kBurst = PacketMill::kBurst;
constexpr Nanoseconds kPerBurst{1000};

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

// One worker with rules, and frames that go through it.
class Pipeline {
public:
    Pipeline(PacketMill& mill, const char* rules)
        : mill_{mill},
          compiled_{compile(rules)},
          core_{.policy = {.tell_wait = false},
                .hash = KeyHasher{{1, 2}},
                .buckets = BucketStore{PacketMill::kSources * 94 / 80, 16},
                .counters = counters_} {
        number_limits(compiled_.set);
    }

    void run(std::size_t bursts) {
        for (std::size_t i = 0; i < bursts; ++i) {
            take(bursts_[i % 2]);
            Burst& going = bursts_[(i + 1) % 2];
            run_overlapped(bursts_[i % 2], going, compiled_.set, core_, now_);
            give(going);
        }
        Burst& last = bursts_[(bursts + 1) % 2];
        bursts_[bursts % 2].clear();
        run_overlapped(bursts_[bursts % 2], last, compiled_.set, core_, now_);
        give(last);
        last.clear();
    }
    // The same, stage by stage, with the time-stamp counter read between them.
    void run_in_stages(std::size_t bursts) {
        for (std::size_t i = 0; i < bursts; ++i) {
            std::uint64_t last = rte_rdtsc();
            const auto lap = [&](std::size_t stage) {
                const std::uint64_t ticks = rte_rdtsc();
                ticks_[stage] += ticks - last;
                last = ticks;
            };
            Burst& coming = bursts_[i % 2];
            Burst& going = bursts_[(i + 1) % 2];
            take(coming);
            lap(0);
            parse_burst(coming, core_);
            lap(1);
            locate_burst(going, core_);
            lap(4);
            match_burst(coming, compiled_.set);
            lap(2);
            key_burst(coming, compiled_.set, core_);
            lap(3);
            meter_burst(going, compiled_.set, core_, now_);
            lap(4);
            give(going);
            lap(5);
        }
        packets_in_stages_ += bursts * kBurst;
    }
    void print_stages(const char* name) const {
        constexpr const char* kStages[] = {"rx", "parse", "match", "key", "meter", "tx"};
        std::printf("{\"id\": \"P\", \"case\": \"cycles per packet, %s\"", name);
        for (std::size_t i = 0; i < std::size(kStages); ++i) {
            std::printf(", \"%s\": %.1f", kStages[i],
                        static_cast<double>(ticks_[i]) / static_cast<double>(packets_in_stages_));
        }
        std::printf("}\n");
    }
    [[nodiscard]] double dropped() const {
        return static_cast<double>(dropped_) / static_cast<double>(judged_);
    }

private:
    static CompiledRules compile(const char* text) {
        Problems problems{"bench"};
        std::optional<CompiledRules> compiled =
            compile_rules({"bench", text}, Purpose::Enforce, {}, problems);
        if (!compiled) {
            std::fprintf(stderr, "%s\n", render(problems.list().front(), text).c_str());
            std::exit(1);
        }
        return *std::move(compiled);
    }
    void take(Burst& burst) {
        now_.at += kPerBurst;
        PacketMill::Frames frames;
        mill_.receive(frames);
        burst.clear();
        for (rte_mbuf* frame : frames) {
            (void)burst.add(
                {{rte_pktmbuf_mtod(frame, const std::byte*), frame->data_len}, frame->pkt_len},
                Direction::In, 1, frame);
        }
    }
    // As the dataplane does: every frame is counted under its verdict and reason.
    void give(const Burst& burst) {
        if (burst.size() == 0) {
            return;
        }
        PacketMill::Frames frames;
        std::size_t count = 0;
        for (const Packet& packet : burst.packets()) {
            frames[count++] = static_cast<rte_mbuf*>(packet.buffer);
            counters_.by_verdict[static_cast<std::size_t>(packet.decision.verdict)].add(1);
            counters_.by_reason[static_cast<std::size_t>(packet.decision.reason)].add(1);
            dropped_ += forwards(packet.decision.verdict) ? 0U : 1U;
        }
        judged_ += kBurst;
        mill_.send(frames);
    }

    PacketMill& mill_;
    CompiledRules compiled_;
    WorkerCounters counters_;
    CoreState core_;
    std::array<Burst, 2> bursts_;  // on their way
    Now now_{Instant{1h}, {}};
    std::uint64_t ticks_[6]{};
    std::uint64_t packets_in_stages_ = 0;
    std::uint64_t dropped_ = 0;
    std::uint64_t judged_ = 0;
};

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
    Pipeline admitted{mill, kAdmitted};
    Pipeline dropped{mill, kDropped};
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
