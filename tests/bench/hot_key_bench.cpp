#include "lib/rules/box_config.hpp"
#include "tests/bench/bench_worker.hpp"
#include "tests/bench/cpus.hpp"
#include "tests/bench/merged_peers.hpp"
#include "tests/bench/rounds.hpp"
#include "tests/bench/rte_reference.hpp"
#include "tests/bench/source_accounts.hpp"
#include "tests/unit/peer/merge/exact.hpp"

#include <cstdio>
#include <cstring>
#include <string>

#include <rte_mbuf.h>

// M3: one key is half of all packets, at four workers, the other half uniform over 2^20: what one
// of them does beside the same with uniform keys alone, and what all of them admit of that key
// beyond its limit, beside what is promised. The other three workers run on another core. Prints
// one JSON object a line.
namespace sluice::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kWorkers = 4;
constexpr Nanoseconds kWatched = 250ms;  // of the workers' clock, from the first packet on

struct Case {
    const char* name;
    const char* limit;
    bool owned_here;  // by the worker that is measured
    bool is_timed;    // how fast it is
    bool is_watched;  // how much is admitted
};

// Every bucket stays live. At 128 million packets a second of the workers' clock the one key is
// exhausted in 16 ms under the first, and never under the second.
constexpr const char* kExhausted = "rate: 10/s, burst: 1M";
constexpr const char* kAdmitted = "rate: 100/s, burst: 3G";
// As small a burst as may be merged at that rate.
constexpr const char* kTight = "rate: 1M/s, burst: 24100";

std::string rules_of(const Case& what) {
    return std::string{"version: 1\nrules:\n  - id: per-source\n    mode: enforce\n    key: "} +
           "[ip.src]\n    limits: [{algorithm: token_bucket, " + what.limit + "}]\n";
}

// The first source whose key this worker owns, or another one.
std::uint32_t source_owned(const BenchWorker& worker, bool here) {
    std::uint32_t number = 0;
    while ((owner_of(account_of_source(worker, number), kWorkers) == 0) != here) {
        ++number;
    }
    return number;
}

class Bench {
public:
    Bench(const Case& what, std::size_t packets)
        : what_{what},
          packets_{packets},
          worker_{mill_, rules_of(what), PacketMill::kSources},
          one_{source_owned(worker_, what.owned_here)} {
        worker_.share(lanes_, 0);
        account_ = account_of_source(worker_, one_);
    }

    void run(int peer_cpu) {
        MergedPeers peers{{.lanes = lanes_,
                           .rows = worker_.rules().slots,
                           .limit = limit(),
                           .interval = BoxConfig{}.merge_interval,
                           .accounts = accounts_by_owner(worker_, kWorkers),
                           .keys = PacketMill::kSources * 94 / 80},
                          peer_cpu};
        worker_.before_burst(
            [&](Instant now) { waited_ += peers.follow(now, MergedPeers::Charge::Everybodys); });
        if (what_.is_watched) {
            measure_overshoot(peers);
        }
        if (what_.is_timed) {
            measure_speed(peers);
        }
    }

private:
    static constexpr int kRounds = 5;

    [[nodiscard]] const Limit& limit() const {
        return *gcra_of(worker_.rules().rules.front().limits.front().limit);
    }
    void flood(MergedPeers& peers, bool of_one) {
        mill_.change(of_one ? PacketMill::Headers::HalfOne : PacketMill::Headers::Source, one_);
        peers.flood(of_one ? &account_ : nullptr);
    }

    // From a fresh bucket on, so that all workers spend the burst at once.
    void measure_overshoot(MergedPeers& peers) {
        AdmittedByTime here;
        here.begin(worker_.now().at, kWatched);
        peers.watch(worker_.now().at, kWatched);
        std::uint64_t offered = 0;
        worker_.after_burst([&](const Burst& burst, Instant now) {
            for (const Packet& packet : burst.packets()) {
                if (is_of_one(packet)) {
                    ++offered;
                    if (packet.decision.reason == Reason::WithinLimits) {
                        here.note(now);
                    }
                }
            }
        });
        flood(peers, true);
        worker_.run(static_cast<std::size_t>(kWatched / 1us) + 1'000);
        peers.catch_up();
        worker_.after_burst({});
        print_overshoot(here, peers.admitted(), offered);
    }
    [[nodiscard]] bool is_of_one(const Packet& packet) const {
        const auto* frame = static_cast<const rte_mbuf*>(packet.buffer);
        const auto* bytes = rte_pktmbuf_mtod(frame, const std::uint8_t*);
        const std::uint8_t* ip = bytes + (bytes[12] == 0x81 ? 18 : 14);
        std::uint32_t source = 0;
        std::memcpy(&source, ip + 12, sizeof(source));
        return ip[0] >> 4 == 4 && __builtin_bswap32(source) == (one_ | 0x0A00'0000U);
    }
    void print_overshoot(const AdmittedByTime& here, const AdmittedByTime& there,
                         std::uint64_t offered) const {
        ExactBucket exact;
        Wide worst = 0;
        std::uint64_t admitted = 0;
        for (std::size_t place = 0; place < here.counts().size(); ++place) {
            const std::uint64_t units = here.counts()[place] + there.counts()[place];
            const Wide debt = exact.charge(limit(), here.time_of(place), units);
            worst = std::max(worst, debt > limit().full() ? debt - limit().full() : 0);
            admitted += units;
        }
        const auto units = static_cast<double>(worst) / static_cast<double>(limit().period());
        const double promised =
            static_cast<double>(kWorkers - 1) *
            worker_.rules().slots[worker_.rules().rules[0].limits[0].slot].max_unsynced;
        std::printf(
            "{\"id\": \"M3\", \"case\": \"overshoot of the one key, %s\", \"value\": %.4f, "
            "\"unit\": \"of the promise\", \"units\": %.1f, \"promised\": %.0f, \"admitted\": %lu, "
            "\"offered_here\": %lu}\n",
            what_.name, units / promised, units, promised, admitted, offered);
        std::fflush(stdout);
    }

    void measure_speed(MergedPeers& peers) {
        const std::size_t bursts = packets_ / PacketMill::kBurst;
        const auto side = [&](const char* name, bool of_one) {
            return Side{name, [this, &peers, bursts, of_one] {
                            flood(peers, of_one);
                            return ns(bursts);
                        }};
        };
        std::vector<Side> sides{side("half one key", true), side("uniform keys", false)};
        (void)sides[1].measure();  // every source has its bucket, with everybody
        run_rounds(sides, kRounds);
        const double half = 1000 / sides[0].median();
        const double uniform = 1000 / sides[1].median();
        std::printf(
            "{\"id\": \"M3\", \"case\": \"half of all packets of one key, %s\", \"value\": %.3f, "
            "\"unit\": \"Mpps\", \"reference\": \"uniform keys\", \"reference_value\": %.3f, "
            "\"ratio\": %.3f, \"rounds\": %s, \"reference_rounds\": %s, \"dropped_here\": %.4f, "
            "\"refused\": %lu, \"ring_full\": %lu, \"waited_for\": %s}\n",
            what_.name, half, uniform, half / uniform, list_of(sides[0].rounds).c_str(),
            list_of(sides[1].rounds).c_str(), worker_.dropped(), peers.refused(),
            peers.counted(LedgerEvent::RingFull), list_of(waited_share_).c_str());
        std::fflush(stdout);
    }
    // Without the time that the others were waited for: they share their core with whoever else
    // runs on this machine.
    double ns(std::size_t bursts) {
        waited_ = 0;
        const double all = cpu_ns_per(1, [&] { worker_.run(bursts); });
        waited_share_.push_back(waited_ / all);
        return (all - waited_) / static_cast<double>(packets_);
    }

    Case what_;
    std::size_t packets_;
    Links links_{kWorkers, {.merge = link_sizes(kWorkers).merge}};
    DeltaLanes lanes_{links_};
    PacketMill mill_;
    BenchWorker worker_;
    std::uint32_t one_;
    Account account_;
    double waited_ = 0;
    std::vector<double> waited_share_;
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
    const std::size_t packets = quick ? std::size_t{1} << 22 : std::size_t{1} << 25;
    for (const Case& what : {Case{"refused", kExhausted, false, true, true},
                             Case{"admitted", kAdmitted, false, true, false},
                             Case{"admitted and owned here", kAdmitted, true, true, false},
                             Case{"held to 1M/s", kTight, false, false, true},
                             Case{"held to 1M/s and owned here", kTight, true, false, true}}) {
        Bench{what, packets}.run(cpus.front());
    }
    return 0;
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** arguments) {
    return sluice::bench::run(count > 1 && std::strcmp(arguments[count - 1], "--quick") == 0);
}
