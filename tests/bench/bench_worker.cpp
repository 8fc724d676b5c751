#include "tests/bench/bench_worker.hpp"

#include "lib/base/bytes.hpp"
#include "lib/engine/burst/adopt.hpp"
#include "lib/engine/stage/stages.hpp"
#include "lib/engine/stage/track_services.hpp"
#include "lib/rules/box_config.hpp"
#include "tests/bench/mill_burst.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include <rte_cycles.h>

namespace sluice::bench {
namespace {

using namespace std::chrono_literals;

constexpr HashSecret kSecret{1, 2};

CompiledRules compile(const BenchRules& rules) {
    Problems problems{"bench"};
    std::optional<CompiledRules> compiled =
        compile_rules({"bench", rules.text, rules.files}, Purpose::Enforce, {}, problems);
    if (!compiled) {
        std::fprintf(stderr, "%s\n", render(problems.list().front(), rules.text).c_str());
        std::exit(1);
    }
    return *std::move(compiled);
}

// A SYN that the frame's connection begins with where its next segment does.
test::Octets syn_behind(const rte_mbuf* frame) {
    constexpr std::size_t kIp = 14;
    constexpr std::size_t kTcp = kIp + 20;
    constexpr std::size_t kHeaders = 20 + 20;
    const auto* const bytes = rte_pktmbuf_mtod(frame, const std::byte*);
    test::Octets syn{bytes, bytes + kIp + kHeaders};
    const std::uint32_t payload = load_be16(syn, kIp + 2) - std::uint32_t{kHeaders};
    const std::uint32_t before = __builtin_bswap32(load_be32(syn, kTcp + 4) + payload - 1);
    std::memcpy(&syn[kTcp + 4], &before, sizeof(before));
    const std::uint16_t total = __builtin_bswap16(kHeaders);
    std::memcpy(&syn[kIp + 2], &total, sizeof(total));
    syn[kTcp + 13] = std::byte{0x02};
    return syn;
}

}  // namespace

BenchWorker::BenchWorker(PacketMill& mill, const BenchRules& rules, std::size_t keys)
    : mill_{mill},
      keys_{keys * 94 / 80},
      core_{.policy = {.tell_wait = false},
            .hash = KeyHasher{kSecret},
            .buckets = BucketStore{keys_, rules.pool_lines},
            .counters = counters_},
      now_{Instant{1h}, {}} {
    load(compile(rules).set, {});
}

void BenchWorker::load(RuleSet set, const Sharers& sharers) {
    Result<LoadedRules> loaded =
        LoadedRules::make(std::move(set), {.secret = kSecret, .sharers = sharers});
    if (!loaded) {
        std::fprintf(stderr, "%s\n", loaded.error().what.c_str());
        std::exit(1);
    }
    loaded_ = *std::move(loaded);
    core_.texts = loaded_.texts(0);
}

void BenchWorker::find_units_by(const UnitFinder& finder) {
    for (Burst& burst : bursts_) {
        burst.find_units_by(finder);
    }
}

void BenchWorker::open_streams() {
    open_streams(&syn_behind);
}

void BenchWorker::open_streams(test::Octets (*opening)(const rte_mbuf* frame)) {
    Burst& burst = bursts_[0];
    std::array<test::Octets, kBurst> syns;
    PacketMill::Frames frames;
    for (std::size_t sent = 0; sent < PacketMill::kStreams * PacketMill::kMbufs; sent += kBurst) {
        const Direction direction = mill_.direction();
        mill_.receive(frames);
        burst.clear();
        for (std::size_t row = 0; row < kBurst; ++row) {
            syns[row] = opening(frames[row]);
            const auto size = static_cast<std::uint32_t>(syns[row].size());
            (void)burst.add({syns[row], size}, direction, kMillPort);
        }
        mill_.send(frames);
        parse_burst(burst, core_);
        const RowMask rows = burst.headers().well_formed();
        if (!loaded_.set().services.empty()) {
            (void)track_services(burst, rows, loaded_.set(), core_, now_.at);
        }
        find_units(burst, rows, loaded_.set(), core_, now_.at);
        burst.clear();
    }
}

void BenchWorker::share(DeltaLanes& lanes, std::size_t me) {
    RuleSet set = loaded_.rules();
    for (Rule& rule : set.rules) {
        for (MeteredLimit& limit : rule.limits) {
            limit.scope = LimitScope::Merged;
        }
    }
    load(std::move(set), {lanes.workers(), BoxConfig{}.merge_interval});
    keep_ledger(lanes, me);
}

void BenchWorker::share_with_boxes(DeltaLanes& lanes, std::size_t machines) {
    RuleSet set = loaded_.rules();
    for (Rule& rule : set.rules) {
        for (MeteredLimit& limit : rule.limits) {
            limit.cluster_scope = ClusterScope::Cluster;
        }
    }
    load(std::move(set), {1, BoxConfig{}.merge_interval, machines});
    keep_ledger(lanes, 0);
    ledger_->set_cluster(loaded_.set().cluster_bounds);
}

void BenchWorker::keep_ledger(DeltaLanes& lanes, std::size_t me) {
    const std::size_t records = keys_ + 1;  // as in the dataplane
    records_.emplace(records * sizeof(Record));
    books_ = std::make_unique<LedgerStore>(core_.buckets);
    ledger_ = std::make_unique<Ledger>(
        me, lanes, std::span{static_cast<Record*>(records_->data()), records}, now_.at);
    ledger_->set(BoxConfig{}.merge_interval);
    core_.ledger = ledger_.get();
}

// As the dataplane's worker does between two bursts.
void BenchWorker::exchange() {
    if (ledger_ != nullptr) {
        adopt(loaded_.set(), core_, now_);
        ledger_->exchange(*books_, now_);
        ledger_->ask(*books_);
    }
}

void BenchWorker::run(std::size_t bursts) {
    for (std::size_t i = 0; i < bursts; ++i) {
        take(bursts_[i % 2]);
        Burst& current = bursts_[(i + 1) % 2];
        exchange();
        run_overlapped(bursts_[i % 2], current, loaded_.set(), core_, now_);
        give(current);
    }
    Burst& last = bursts_[(bursts + 1) % 2];
    bursts_[bursts % 2].clear();
    run_overlapped(bursts_[bursts % 2], last, loaded_.set(), core_, now_);
    give(last);
    last.clear();
}

// The same laps as in the dataplane, of every burst.
void BenchWorker::run_in_stages(std::size_t bursts) {
    StageLaps laps{counters_.stages, [] { return rte_rdtsc(); }};
    laps.measure_turn();
    for (std::size_t i = 0; i < bursts; ++i) {
        Burst& next = bursts_[i % 2];
        Burst& current = bursts_[(i + 1) % 2];
        take(next);
        laps.lap(Stage::Receive);
        laps.met(kBurst);
        exchange();
        laps.lap(Stage::Other);
        match_overlapped({next, current}, loaded_.set(), core_, now_, laps);
        meter_overlapped({next, current}, loaded_.set(), core_, now_, laps);
        give(current);
        laps.lap(Stage::Send);
    }
    laps.end_turn(false);
}

void BenchWorker::print_stages(const char* id, const char* name) const {
    std::fprintf(stderr, "  %s cycles per packet, %s:", id, name);
    double all = 0;
    for (const StageRow& row : kStages) {
        const double cycles = static_cast<double>(counters_.stages.ticks_of(row.stage).read()) /
                              static_cast<double>(counters_.stages.packets.read());
        all += cycles;
        if (row.stage != Stage::Idle) {
            std::fprintf(stderr, " %s %.1f", row.name.data(), cycles);
        }
    }
    std::fprintf(stderr, ", together %.1f\n", all);
}

std::uint64_t BenchWorker::packets() const noexcept {
    std::uint64_t all = 0;
    for (const Counter& counter : counters_.by_verdict) {
        all += counter.read();
    }
    return all;
}

std::uint64_t BenchWorker::packets_dropped() const noexcept {
    return counters_.by_verdict[static_cast<std::size_t>(Verdict::Drop)].read();
}

double BenchWorker::dropped() const noexcept {
    return static_cast<double>(packets_dropped()) / static_cast<double>(packets());
}

std::size_t BenchWorker::live_keys() const noexcept {
    std::size_t keys = 0;
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
        keys += core_.buckets.registry.entries_of(static_cast<LimitSlot>(slot)).read();
    }
    return keys;
}

double BenchWorker::matches_per_packet() const noexcept {
    std::uint64_t matches = 0;
    for (const LoadedRule& rule : loaded_.set().rules) {
        const RuleCounters& row = counters_.rules[rule.counters];
        matches += row.admitted.read() + row.exceeded.read() + row.skipped.read();
    }
    const std::uint64_t judged = judged_as(Reason::WithinLimits) + refused();
    return static_cast<double>(matches) / static_cast<double>(judged);
}

void BenchWorker::take(Burst& burst) {
    unstepped_ += step_;
    const Nanoseconds step{static_cast<std::int64_t>(unstepped_)};
    unstepped_ -= static_cast<double>(step.count());
    now_.at += step;
    if (told_) {
        told_(now_.at);
    }
    take_burst(mill_, burst);
}

void BenchWorker::give(Burst& burst) {
    if (told_after_) {
        told_after_(burst, now_.at);
    }
    give_burst(mill_, burst, counters_);
}

}  // namespace sluice::bench
