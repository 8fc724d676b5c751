#pragma once
#include "lib/bucket/table/worker_tables.hpp"
#include "lib/engine/burst/adopt.hpp"
#include "lib/engine/key/key_question.hpp"
#include "lib/engine/run_burst.hpp"
#include "lib/engine/stage/steer_burst.hpp"
#include "lib/engine/worker/peer_lanes.hpp"
#include "lib/l7/stream/unit_parser.hpp"
#include "lib/peer/merge/ledger_store.hpp"
#include "lib/policy/keys/key_text.hpp"
#include "tests/packets/arrivals.hpp"
#include "tests/packets/load_rules.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::test {

// What each worker has.
struct WorkerParts {
    std::size_t keys = 1024;  // that its table has room for, and as many coarsened ones
    std::size_t lines = 0;    // of the pool; 0: as many as keys
    std::size_t records = 256;
    // How long an amount that is due soon waits for others before it is sent.
    Nanoseconds merge_interval{0};
    std::vector<PortRssMapping> ports{};  // none: all hash the source
    UnitFinder finder = lone_unit_finder();
    // Boxes of the cluster that every limit is of; 1: the box is in none.
    std::size_t machines = 1;
    OwnerDown owner_down = OwnerDown::LocalShare;
};

// Several workers that hand packets to owners, share limits and take over rules whose keys meet
// other workers than before, step by step as a box does it. With one worker it is the oracle.
class Workers {
public:
    using Frame = std::vector<std::byte>;

    Workers(std::string_view rules, std::size_t workers, const WorkerParts& parts = {})
        : merge_interval_{parts.merge_interval},
          machines_{parts.machines},
          owner_down_{parts.owner_down},
          box_{usual_rss_mapping()},
          peers_{workers, {.merge = 64, .reserve = 64, .connections = 1024}} {
        find_units_by(parts.finder);
        box_.workers = workers;
        box_.ports = parts.ports.empty() ? box_.ports : parts.ports;
        if (machines_ > 1) {
            peers_.amounts.open_store({.machines = machines_});
        }
        std::vector<const BucketStore*> tables;
        for (std::size_t i = 0; i < workers; ++i) {
            workers_.push_back(std::make_unique<Worker>(parts));
            tables.push_back(&workers_.back()->core.buckets);
        }
        worker_tables_ = std::make_unique<WorkerTables>(std::move(tables));
        for (std::size_t i = 0; i < workers; ++i) {
            Worker& worker = *workers_[i];
            worker.core.buckets.set_worker_tables(worker_tables_.get());
            worker.core.connection_lanes = &peers_.connections;
            worker.ledger = std::make_unique<Ledger>(i, peers_.amounts, worker.records, Instant{});
            worker.core.buckets.set_unsynced(&worker.ledger->records());
            worker.gauges =
                std::make_unique<ConnectionGauges>(peers_.amounts.store(i), 1024, kSlots);
            worker.ledger_store.set_gauges(worker.gauges.get());
        }
        (void)begin_apply(rules);
    }

    // Other rules: workers adopt them as they come to judge.
    [[nodiscard]] Result<Done> begin_apply(std::string_view rules, const KeySettings& keys = {},
                                           Forgives forgives = Forgives::Nothing) {
        CompiledRules next =
            enforced({.file = "rules", .text = rules, .keys = &keys, .box = &box_});
        for (Rule& rule : next.set.rules) {
            for (MeteredLimit& limit : rule.limits) {
                limit.cluster_scope = machines_ > 1 ? ClusterScope::Cluster : limit.cluster_scope;
                limit.owner_down = owner_down_;
            }
        }
        Environment environment = this->environment();
        environment.forgives = forgives;
        Result<LoadedRules> fits = LoadedRules::make(std::move(next.set), environment);
        if (!fits) {
            return fits.error();
        }
        summaries_ = std::move(next.rules);
        load(*std::move(fits));
        return Done{};
    }
    // As in a process that begins over these tables: gauges were memory of the one before.
    void forget_gauges() {
        for (std::size_t i = 0; i < workers_.size(); ++i) {
            Worker& worker = *workers_[i];
            worker.gauges =
                std::make_unique<ConnectionGauges>(peers_.amounts.store(i), 1024, kSlots);
            worker.gauges->set_cluster(set().cluster_bounds);
            worker.ledger_store.set_gauges(worker.gauges.get());
            worker.core.gauges = set().counts_gauges ? worker.gauges.get() : nullptr;
        }
    }
    // Once workers have told each other what they had to.
    void end_apply(Instant now) {
        turns(now);
        move();
    }
    // Whatever they have told each other by then.
    void move() {
        if (is_migrating()) {
            Environment environment = this->environment();
            environment.moves = Moves::Ended;
            load(*loaded_.back()->again(environment));
        }
    }
    void apply(std::string_view rules, Instant now) {
        (void)begin_apply(rules).has_value();
        end_apply(now);
    }

    // Where frames come in from now on.
    void come_from(Direction dir) { from_ = dir; }
    // Frames that come to one worker together. Their decisions, once all owners have judged them.
    std::vector<Decision> judge(std::size_t at, const std::vector<Frame>& frames, Instant now) {
        std::vector<Decision> decisions(frames.size());
        burst_.clear();
        for (std::size_t i = 0; i < frames.size(); ++i) {
            arrive(burst_, frames[i], &decisions[i], from_);
        }
        begin(*workers_[at], now);
        hand_over(at);
        end(*workers_[at], now);
        for (const auto& worker : workers_) {
            if (!worker->inbox.empty()) {
                receive(*worker, now);
            }
        }
        on_their_way_.clear();
        return decisions;
    }
    Decision judge(std::size_t at, const Frame& frame, Instant now) {
        return judge(at, std::vector<Frame>{frame}, now).front();
    }
    Decision judge(std::size_t at, const Frame& frame, Instant now, Direction dir) {
        const Direction before = std::exchange(from_, dir);
        const Decision decision = judge(at, frame, now);
        from_ = before;
        return decision;
    }
    // So many packets, each at the next worker: how many pass.
    std::uint64_t pass(std::uint64_t packets, const Frame& frame, Instant now,
                       std::size_t first = 0) {
        std::uint64_t passed = 0;
        for (std::uint64_t i = 0; i < packets; ++i) {
            const std::size_t at = (first + i) % workers_.size();
            passed += judge(at, frame, now).verdict == Verdict::Pass ? 1 : 0;
        }
        return passed;
    }

    // A worker hears the others, and tells them.
    void poll(std::size_t at, Instant now) {
        Worker& worker = *workers_[at];
        adopt(set(), worker.core, {now, {}});
        worker.ledger->set(merge_interval_,
                           set().hurries ? Ledger::kNoLonger : Ledger::kLongestWait);
        worker.ledger->exchange(worker.ledger_store, {now, {}});
    }
    // All workers do, until nobody has anything to say.
    void turns(Instant now) {
        for (int round = 0; round < 6; ++round) {
            for (std::size_t at = 0; at < workers_.size(); ++at) {
                poll(at, now);
            }
        }
    }
    // Their tables are swept all over, several times.
    void sweep(Instant now) {
        for (const auto& worker : workers_) {
            adopt(set(), worker->core, {now, {}});
            sweep(*worker, now);
        }
    }
    // The same where entries may have former numbers.
    void settle_numbers(Instant now) {
        for (const auto& worker : workers_) {
            adopt(set(), worker->core, {now, {}});
            if (worker->core.buckets.registry.stale()) {
                sweep(*worker, now);
            }
        }
    }

    // Made to the packet that was decided last, if it is forwarded.
    [[nodiscard]] const Normalization& changes() const { return changes_; }

    // What a worker says of a key of the first rule.
    [[nodiscard]] KeyAnswer show(std::size_t at, const std::string& key, Instant now) {
        const Result<ReadKey> read =
            read_key_of_rule(set().rules.front().keys, set().rules.front().missing_key, key);
        return answer_key({.load = set().load, .key = read->index, .bytes = read->bytes}, set(),
                          workers_[at]->core, {now, {}});
    }
    [[nodiscard]] const LoadedSet& set() const { return loaded_.back()->set(); }
    [[nodiscard]] const RuleSet& rules() const { return loaded_.back()->rules(); }
    // Of the first rule.
    [[nodiscard]] const LoadedLimit& limit() const { return set().rules.front().limits.front(); }
    [[nodiscard]] const std::vector<RuleSummary>& summaries() const { return summaries_; }
    [[nodiscard]] bool is_migrating() const { return loaded_.back()->slots().is_migrating(); }
    [[nodiscard]] SlotsImage slots() const { return loaded_.back()->slots().image(); }
    [[nodiscard]] std::size_t size() const { return workers_.size(); }
    // Packets that owners were given.
    [[nodiscard]] std::uint64_t handed() const { return handed_; }
    // Amounts that owners have charged.
    [[nodiscard]] std::uint64_t told() const {
        return sum([](const Worker& worker) {
            return worker.ledger->counters().read(LedgerEvent::Applied);
        });
    }
    [[nodiscard]] std::uint64_t counted(TableEvent event) const {
        return sum([event](const Worker& worker) {
            return worker.counters.by_table_event[static_cast<std::size_t>(event)].read();
        });
    }
    // What a rule has admitted.
    [[nodiscard]] std::uint64_t admitted(std::size_t rule) const {
        const std::uint32_t row = set().rules[rule].counters;
        return sum([row](const Worker& one) { return one.counters.rules[row].admitted.read(); });
    }
    [[nodiscard]] std::uint64_t moved_debts() const {
        return sum([](const Worker& worker) { return worker.counters.moved_debts.read(); });
    }
    [[nodiscard]] std::uint64_t live_entries(LimitSlot slot) const {
        return sum([slot](const Worker& worker) {
            return worker.core.buckets.registry.entries_of(slot).read();
        });
    }
    [[nodiscard]] std::uint64_t uses(LimitSlot slot) const { return worker_tables_->uses_of(slot); }
    [[nodiscard]] const BucketStore& buckets(std::size_t at) const {
        return workers_[at]->core.buckets;
    }
    [[nodiscard]] DeltaLanes& lanes() { return peers_.amounts; }
    // A key of the first rule.
    [[nodiscard]] GroupKey hash_of(std::string_view text) const {
        const LoadedRule& rule = set().rules.front();
        const Result<ReadKey> key = read_key_of_rule(rule.keys, rule.missing_key, text);
        return workers_.front()->core.hash(limit().identity, key->bytes.view());
    }
    // Over what the first limit allows, as its owners have measured it.
    [[nodiscard]] std::uint64_t worst_excess() const {
        std::uint64_t worst = 0;
        for (const auto& worker : workers_) {
            worst = std::max(worst, worker->ledger_store.worst_excess(limit().slot).read());
        }
        return worst;
    }
    [[nodiscard]] std::uint64_t events(LedgerEvent event) const {
        return sum([event](const Worker& one) { return one.ledger->counters().read(event); });
    }
    // Records of what is not yet in any total.
    [[nodiscard]] std::uint64_t unsynced() const {
        return sum([](const Worker& worker) { return worker.ledger->records().in_use(); });
    }

private:
    struct Waiting {
        const Frame* frame;
        Decision* decision;
        Normalization changes;
    };
    struct Worker {
        explicit Worker(const WorkerParts& parts)
            : records(parts.records),
              core{.policy = {},
                   .hash = KeyHasher{kBoxSecret},
                   .buckets = BucketStore{parts.keys, parts.lines != 0 ? parts.lines : parts.keys},
                   .counters = counters},
              ledger_store{core.buckets} {}
        WorkerCounters counters;
        std::vector<Record> records;
        CoreState core;
        LedgerStore ledger_store;
        std::unique_ptr<Ledger> ledger;
        std::unique_ptr<ConnectionGauges> gauges;
        std::vector<Waiting> inbox;
    };

    template <typename Read>
    [[nodiscard]] std::uint64_t sum(const Read& read) const {
        std::uint64_t all = 0;
        for (const auto& worker : workers_) {
            all += read(*worker);
        }
        return all;
    }
    [[nodiscard]] std::uint64_t settled() const {
        std::uint64_t least = UINT64_MAX;
        for (const auto& worker : workers_) {
            least = std::min(least, worker->counters.settled.read());
        }
        return workers_.empty() ? 0 : least;
    }
    [[nodiscard]] Environment environment() const {
        return {
            .secret = kBoxSecret,
            .sharers = {workers_.size(), std::chrono::milliseconds{1}, machines_},
            .tables = {[this](LimitSlot slot) { return uses(slot); }, [this] { return settled(); }},
            .before = loaded_.empty() ? nullptr : loaded_.back().get()};
    }

    void load(LoadedRules rules) {
        loaded_.push_back(std::make_unique<const LoadedRules>(std::move(rules)));
        for (std::size_t i = 0; i < workers_.size(); ++i) {
            Worker& worker = *workers_[i];
            const bool shares = set().shared_limits != 0 || set().counts_gauges;
            worker.core.ledger = shares ? worker.ledger.get() : nullptr;
            worker.core.texts = loaded_.back()->texts(i);
            worker.ledger->set_cluster(set().cluster_bounds);
            worker.core.gauges = set().counts_gauges ? worker.gauges.get() : nullptr;
            worker.gauges->set_cluster(set().cluster_bounds);
        }
    }
    static void sweep(Worker& worker, Instant now) {
        constexpr int kRounds = 3;
        for (int rounds = 0; rounds < kRounds;) {
            const bool all_seen = worker.core.buckets.begin_burst({now, {}});
            worker.counters.settled.set(worker.core.buckets.settled_changes());
            rounds += all_seen ? 1 : 0;
        }
    }

    void begin(Worker& me, Instant now) { match_stages(burst_, set(), me.core, {now, {}}); }
    void hand_over(std::size_t at) {
        BurstOwners owners;
        if (set().steering.empty() ||
            !find_owners(burst_, set(), workers_[at]->core, workers_.size(), owners)) {
            return;
        }
        BurstSplit split;
        for (std::size_t row = 0; row < burst_.size(); ++row) {
            const Packet& packet = burst_.packets()[row];
            if (owners[row] == kStays || owners[row] == at) {
                continue;
            }
            auto* decision = static_cast<Decision*>(packet.buffer);
            const ByteView frame = burst_.frame(row).bytes;
            on_their_way_.emplace_back(frame.begin(), frame.end());
            workers_[owners[row]]->inbox.push_back(
                {&on_their_way_.back(), decision, burst_.normalization(row)});
            split.gone |= std::uint32_t{1} << row;
            ++handed_;
        }
        split_burst(burst_, split, set());
    }
    void end(Worker& me, Instant now) {
        meter_stages(burst_, set(), me.core, {now, {}});
        for_each_row(burst_.live(), [&](std::size_t row) {
            const Packet& packet = burst_.packets()[row];
            *static_cast<Decision*>(packet.buffer) = packet.decision;
            changes_ = burst_.normalization(row);
        });
    }
    // The room for units stays while the same functions find them and remember nothing: it is
    // large.
    static void find_units_by(const UnitFinder& finder) {
        if (finder.parser == nullptr && finder.find == found_by_) {
            return;
        }
        burst_.find_units_by(finder);
        found_by_ = finder.parser == nullptr ? finder.find : nullptr;
    }
    void receive(Worker& me, Instant now) {
        burst_.clear();
        for (const Waiting& waiting : me.inbox) {
            arrive(burst_, *waiting.frame, waiting.decision, from_);
            if (waiting.changes.any()) {
                burst_.normalize(burst_.size() - 1, waiting.changes);
            }
        }
        me.inbox.clear();
        burst_.come_from_worker();
        begin(me, now);
        end(me, now);
    }

    // One for all workers, which take turns, of all tests: its memory is large.
    static inline Burst burst_;
    static inline decltype(UnitFinder::find) found_by_ = nullptr;
    Nanoseconds merge_interval_;
    std::size_t machines_;
    OwnerDown owner_down_;
    RssMapping box_;
    Direction from_ = Direction::In;
    PeerLanes peers_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::unique_ptr<WorkerTables> worker_tables_;
    std::vector<RuleSummary> summaries_;
    std::vector<std::unique_ptr<const LoadedRules>> loaded_;
    std::deque<Frame> on_their_way_;
    std::uint64_t handed_ = 0;
    Normalization changes_;
};

}  // namespace sluice::test
