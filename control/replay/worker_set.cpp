#include "control/replay/worker_set.hpp"

#include "lib/engine/burst/adopt.hpp"
#include "lib/engine/burst/burst_units.hpp"
#include "lib/engine/run_burst.hpp"
#include "lib/engine/stage/steer_burst.hpp"
#include "lib/engine/stage/track_services.hpp"
#include "lib/l7/http1/doubts_of_readings.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

// Amounts that others have not settled yet: as many as keys on a box. Their memory is written when
// it is made: from this number of workers on they share what that many have.
constexpr std::size_t kFullRecords = 8;
std::size_t records_of_each(const ReplaySetup& setup) noexcept {
    return setup.workers <= kFullRecords ? setup.buckets
                                         : setup.buckets * kFullRecords / setup.workers;
}

bool is_well_formed(const Burst& burst) {
    return has_row(burst.headers().well_formed(), 0);
}

}  // namespace

WorkerSet::Worker::Worker(const ReplaySetup& setup)
    : core{.policy = setup.policy,
           .hash = KeyHasher{kReplaySecret},
           .buckets = BucketStore{setup.buckets, setup.buckets},
           .counters = counters},
      parser{setup.units} {
    parser.note_doubts_by(&doubts_of_readings);
    burst.find_units_by(parser.finder());
    core.fragments = parser.fragments();
}

WorkerSet::WorkerSet(const ReplaySetup& setup, const LoadedRules& rules)
    : setup_{setup},
      rules_{rules.set()},
      port_{setup.pair.empty() ? 0 : port_name(setup.pair)},
      clock_{rules_, longest_timeout(setup.units)} {
    looking_->find_units_by(lone_unit_finder());
    for (std::size_t i = 0; i < setup.workers; ++i) {
        workers_.push_back(std::make_unique<Worker>(setup));
        workers_.back()->core.texts = rules.texts(i);
    }
    std::vector<const BucketStore*> tables;
    tables.reserve(workers_.size());
    for (const auto& worker : workers_) {
        tables.push_back(&worker->core.buckets);
    }
    worker_tables_ = std::make_unique<WorkerTables>(std::move(tables));
    for (const auto& worker : workers_) {
        worker->core.buckets.set_worker_tables(worker_tables_.get());
    }
    link_workers();
}

void WorkerSet::know_answered(AnsweredTraffic& answered) noexcept {
    for (const auto& worker : workers_) {
        worker->core.answered = &answered;
    }
}

void WorkerSet::watch_keys(const std::vector<HeatTable*>& tables) noexcept {
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        workers_[i]->core.watching = tables[i];
    }
}

void WorkerSet::describe_keys(HeatSampler& sampler) noexcept {
    for (const auto& worker : workers_) {
        worker->core.heat = &sampler;
    }
}

// Nothing of before is on its way.
void WorkerSet::link_workers() {
    peers_ = std::make_unique<PeerLanes>(workers_.size());
    for (const auto& worker : workers_) {
        worker->core.connection_lanes = &peers_->connections;
    }
    if (shares_limits()) {
        share_limits();
    }
}

void WorkerSet::share_limits() {
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        Worker& worker = *workers_[i];
        worker.records.assign(records_of_each(setup_), Record{});
        worker.ledger_store = std::make_unique<LedgerStore>(worker.core.buckets);
        worker.ledger = std::make_unique<Ledger>(i, peers_->amounts, worker.records, Instant{});
        worker.ledger->set(setup_.merge_interval);
        worker.core.ledger = worker.ledger.get();
    }
}

// The ledger messages that the workers of a box would have exchanged by then. They never rest:
// charges of the last frames are merged one interval later, however long no frame has come since.
void WorkerSet::exchange(Now now) {
    const auto round = [this](Now at) {
        for (const auto& worker : workers_) {
            adopt(rules_, worker->core, at);
            worker->ledger->exchange(*worker->ledger_store, at);
        }
    };
    const Instant due = exchanged_.at + setup_.merge_interval;
    if (due < now.at) {
        // Amounts go out, totals back, and the last of them is settled.
        for (int i = 0; i < 3; ++i) {
            round(now.moved_to(due));
        }
    }
    round(now);
    exchanged_ = now;
}

Now WorkerSet::time_of(Instant captured) {
    const Now now = clock_.at(captured);
    if (clock_.begins_anew()) {
        begin_anew();
    }
    return now;
}

// With tables as of before the first frame, in the place of the old ones, since all workers know
// where those are; what was counted stays.
void WorkerSet::begin_anew() {
    for (const auto& worker : workers_) {
        std::destroy_at(&worker->core.buckets);
        std::construct_at(&worker->core.buckets, setup_.buckets, setup_.buckets);
        worker->core.buckets.set_worker_tables(worker_tables_.get());
        worker->core.known = nullptr;
        worker->core.held_order = HeldOrder{};
    }
    exchanged_ = {};
    link_workers();
}

WorkerSet::Route WorkerSet::route_of(const CapturedFrame& frame, Now now) const {
    PacketHeaders outer;
    parse_frame({frame.bytes, frame.wire_size}, Tunnels{}, outer);
    const Direction dir = direction_of(outer, setup_.inside);
    const Rss rss = dir == Direction::In ? setup_.rss_outside : setup_.rss_inside;
    Worker& receiver = *workers_[worker_of(outer, rss, workers_.size())];
    return {rules_.steering.empty() ? receiver : owner_of(frame, {receiver, dir}, now), dir};
}

// The worker that its receiver hands a frame to, or the receiver.
WorkerSet::Worker& WorkerSet::owner_of(const CapturedFrame& frame, const Route& receiver,
                                       Now now) const {
    Burst& alone = *looking_;
    alone.clear();
    alone.add({frame.bytes, frame.wire_size}, receiver.dir, port_);
    match_stages(alone, rules_, receiver.worker.core, now);
    BurstOwners owners;
    return find_owners(alone, rules_, receiver.worker.core, workers_.size(), owners)
               ? *workers_[owners[0]]
               : receiver.worker;
}

BurstRow WorkerSet::receive(const CapturedFrame& frame, const Route& route) {
    Burst& burst = route.worker.burst;
    burst.add({frame.bytes, frame.wire_size}, route.dir, port_);
    return {&burst, burst.size() - 1};
}

void WorkerSet::begin_instant(Now now) {
    rows_.clear();
    for (const auto& worker : workers_) {
        worker->burst.clear();
        adopt_services(worker->burst, rules_, worker->core, now.at);
    }
    if (shares_limits()) {
        exchange(now);
    }
}

const std::vector<BurstRow>& WorkerSet::judge(std::span<KeptFrame> frames, Instant now) {
    const Now time = time_of(now);
    begin_instant(time);
    for (const KeptFrame& kept : frames) {
        rows_.push_back(receive(kept.frame(), route_of(kept.frame(), time)));
    }
    for (const auto& worker : workers_) {
        if (worker->burst.size() > 0) {
            run_burst(worker->burst, rules_, worker->core, time);
        }
    }
    return rows_;
}

WorkerSet::Place WorkerSet::match(const CapturedFrame& frame, Instant now) {
    return match(frame, route_of(frame, time_of(now)), now);
}

WorkerSet::Place WorkerSet::match(const CapturedFrame& frame, Direction dir, Instant now) {
    return match(frame, Route{route_of(frame, time_of(now)).worker, dir}, now);
}

WorkerSet::Place WorkerSet::match(const CapturedFrame& frame, const Route& route, Instant now) {
    matched_at_ = time_of(now);
    begin_instant(matched_at_);
    rows_.push_back(receive(frame, route));
    matched_ = std::ranges::find_if(workers_, [](const auto& worker) {
                   return worker->burst.size() > 0;
               })->get();
    adopt(rules_, matched_->core, matched_at_);
    match_stages(matched_->burst, rules_, matched_->core, matched_at_);
    return {matched_->core, seen_of(*matched_, rows_.front()), matched_at_, matched_->burst};
}

// Units of a frame that is decided without them are found for people alone, by the worker's parser,
// as the frame stands.
const Burst& WorkerSet::seen_of(Worker& worker, const BurstRow& row) {
    if (row.burst->units() != nullptr || !is_well_formed(*row.burst)) {
        return *row.burst;
    }
    unseen_ = std::make_unique<Burst>();
    unseen_->add(row.frame(), row.headers().dir, port_);
    unseen_->find_units_by(worker.parser.finder());
    parse_burst(*unseen_, worker.core);
    geo_burst(*unseen_, rules_);
    find_units(*unseen_, unseen_->headers().well_formed(), rules_, worker.core, matched_at_.at);
    return *unseen_;
}

const Decision& WorkerSet::decide() {
    meter_stages(matched_->burst, rules_, matched_->core, matched_at_);
    return rows_.front().decision();
}

void WorkerSet::follow(const CapturedFrame& frame, Direction dir, Instant now) {
    (void)match(frame, dir, now);
    settle_matched();
}

void WorkerSet::follow_dialogue(std::span<const DialogueFrame> frames, Instant now) {
    for (const DialogueFrame& one : frames) {
        Route route = route_of(frames.front().frame.frame(), time_of(now));
        if (one.is_answer) {
            route.dir = route.dir == Direction::In ? Direction::Out : Direction::In;
        }
        (void)match(one.frame.frame(), route, now);
        settle_matched();
    }
}

void WorkerSet::settle_matched() {
    if (BurstUnits* const units = matched_->burst.units()) {
        units->settle(matched_->burst, row_bit(0), rules_.meter_plan);
    }
}

RuleCounts WorkerSet::totals(const LoadedRule& rule) const {
    RuleCounts totals;
    for (const auto& worker : workers_) {
        worker->counters.add_rule(rule.counters, totals);
    }
    return totals;
}

ServiceChecksums WorkerSet::checksums_of(const Service& service) const {
    ServiceChecksums all;
    for (const auto& worker : workers_) {
        all = combined(all, worker->parser.checksums_of(service));
    }
    return all;
}

std::uint64_t WorkerSet::table_full() const {
    std::uint64_t total = 0;
    for (const auto& worker : workers_) {
        for (const TableEvent event :
             {TableEvent::TableFull, TableEvent::ShareFull, TableEvent::PoolFull}) {
            total += worker->counters.by_table_event[static_cast<std::size_t>(event)].read();
        }
    }
    return total;
}

WorkerSet::Unread WorkerSet::unread() const {
    Unread total;
    for (const auto& worker : workers_) {
        total.of_services += worker->parser.service_connections().of(ConnectionEvent::Unread);
        total.anywhere += worker->parser.connections().of(ConnectionEvent::Unread);
    }
    return total;
}

}  // namespace sluice
