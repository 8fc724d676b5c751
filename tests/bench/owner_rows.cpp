#include "tests/bench/owner_rows.hpp"

#include "lib/engine/burst/decision_tally.hpp"
#include "lib/rules/port_rss_mapping.hpp"
#include "tests/packets/load_rules.hpp"

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace sluice::bench {
namespace {

constexpr std::size_t kFrames = 4096;  // of each worker, more than are on their way
constexpr std::size_t kBurstsOfATurn = 4;
constexpr Nanoseconds kTurn = std::chrono::microseconds{100};
constexpr std::size_t kKeys = 16'384;

// A burst of one is less than workers may have unsynced, so packets go to their owners.
constexpr std::string_view kRule = R"yaml(version: 1
rules:
  - {id: r, mode: enforce, key: [ip.dst], limits: [{algorithm: token_bucket, rate: 1M/s, burst: 1}]}
)yaml";

void place(RuleSet& rules, OwnedFlows::Way way) {
    if (way == OwnedFlows::Way::HandOver) {
        return;
    }
    for (Rule& rule : rules.rules) {
        rule.owner_group = 0;
        for (MeteredLimit& limit : rule.limits) {
            limit.scope = way == OwnedFlows::Way::Ask ? LimitScope::Asked : LimitScope::Local;
        }
    }
    rules.owner_groups.clear();
}

std::shared_ptr<const LoadedRules> load(OwnedFlows::Way way) {
    RssMapping box = usual_rss_mapping();
    box.workers = OwnedFlows::kWorkers;
    RuleSet rules = test::enforced({.file = "bench", .text = kRule, .box = &box}).set;
    place(rules, way);
    return std::make_shared<const LoadedRules>(test::loaded(
        std::move(rules), {.secret = test::kBoxSecret,
                           .sharers = {OwnedFlows::kWorkers, std::chrono::milliseconds{1}},
                           .tables = test::full_tables()}));
}

}  // namespace

// Verdicts are counted, and nothing is done to a frame.
void OwnedFlows::Out::send(Burst& burst, std::span<const Action> /*actions*/,
                           WorkerCounters& counters, const SendContext<Lane>& /*context*/,
                           Lane& /*lane*/) noexcept {
    DecisionTally tally;
    for (std::size_t row = 0; row < burst.size(); ++row) {
        tally.note(row, burst.packets()[row].decision);
    }
    tally.count(burst.live(), burst.frames().wire, counters);
}
void OwnedFlows::Out::depart(std::span<MemoryFrame*> /*frames*/,
                             WorkerCounters& /*counters*/) noexcept {}

OwnedFlows::OwnedFlows(Way way)
    : loaded_{load(way)},
      running_{std::make_unique<const Running>(
          Running{.state = Running::State::Enforce, .loaded = loaded_, .traces = {}})} {
    for (std::size_t i = 0; i < kWorkers * kWorkers; ++i) {
        rings_.push_back(std::make_unique<MemoryRing>());
    }
    std::vector<const BucketStore*> tables;
    for (std::size_t i = 0; i < kWorkers; ++i) {
        add(i);
        tables.push_back(&workers_.back()->worker->buckets());
    }
    tables_ = std::make_unique<WorkerTables>(std::move(tables));
    for (const auto& one : workers_) {
        one->worker->meet(*tables_);
    }
}

void OwnedFlows::add(std::size_t at) {
    One& one = *workers_.emplace_back(std::make_unique<One>());
    for (std::size_t i = 0; i < kFrames; ++i) {
        const std::string host = std::to_string(i / 256) + "." + std::to_string(i % 256);
        one.bytes.push_back(test::udp()
                                .src("10." + std::to_string(at) + ".0.1")
                                .dst("10." + std::to_string(100 + at) + "." + host)
                                .bytes());
    }
    for (const test::Octets& bytes : one.bytes) {
        one.frames.push_back({.view = {bytes, static_cast<std::uint32_t>(bytes.size())}});
    }
    MemoryEnds ends;
    for (std::size_t other = 0; other < kWorkers; ++other) {
        ends.to.push_back(other == at ? nullptr : rings_[at * kWorkers + other].get());
        if (other != at) {
            ends.from.push_back(rings_[other * kWorkers + at].get());
        }
    }
    WorkerLanes<MemoryIo<Out>> lanes;
    lanes.lanes.emplace_back(one.coming, one.out, 0U, std::move(ends));
    one.worker = std::make_unique<BenchedWorker>(roster_.enlist(),
                                                 WorkerSetup{.running = running_,
                                                             .peers = peers_,
                                                             .workers = kWorkers,
                                                             .units = capture_unit_budget(),
                                                             .connections = {},
                                                             .records = one.records,
                                                             .held_percent = 0,
                                                             .answer_boards = boards_},
                                                 CoreState{.policy = {.tell_wait = false},
                                                           .hash = KeyHasher{test::kBoxSecret},
                                                           .buckets = BucketStore{kKeys, 16},
                                                           .counters = one.counters},
                                                 std::move(lanes), MemoryHost{one.now});
}

void OwnedFlows::poll(std::size_t worker) {
    One& one = *workers_[worker];
    for (std::size_t i = 0; i < kBurstsOfATurn * kMaxBurst; ++i) {
        one.coming.push_back(&one.frames[one.next++ % kFrames]);
    }
    one.now.at += kTurn;
    (void)one.worker->poll();
}

void OwnedFlows::run(std::size_t bursts) {
    for (std::size_t done = 0; done < bursts; done += kWorkers * kBurstsOfATurn) {
        for (std::size_t worker = 0; worker < kWorkers; ++worker) {
            poll(worker);
        }
    }
}

std::uint64_t OwnedFlows::left() const noexcept {
    std::uint64_t all = 0;
    for (const auto& one : workers_) {
        for (const Counter& counter : one->counters.by_verdict) {
            all += counter.read();
        }
    }
    return all;
}
std::uint64_t OwnedFlows::forwarded() const noexcept {
    std::uint64_t all = 0;
    for (const auto& one : workers_) {
        all += one->counters.by_verdict[static_cast<std::size_t>(Verdict::Pass)].read();
    }
    return all;
}
std::uint64_t OwnedFlows::shared() const noexcept {
    std::uint64_t all = 0;
    for (const auto& one : workers_) {
        all += one->counters.handed_over.read() +
               one->worker->reserve_client().counters().of(AskEvent::Asked);
    }
    return all;
}

}  // namespace sluice::bench
