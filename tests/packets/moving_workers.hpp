#pragma once
#include "lib/ledger/bucket_books.hpp"
#include "lib/meter/peer_tables.hpp"
#include "lib/pipeline/adopt.hpp"
#include "lib/pipeline/owner_burst.hpp"
#include "lib/pipeline/run_burst.hpp"
#include "lib/pipeline/shared_limits.hpp"
#include "lib/policy/compile.hpp"
#include "lib/rules/limit_slots.hpp"
#include "lib/rules/limit_spread.hpp"
#include "lib/rules/load_overrides.hpp"
#include "lib/rules/origins.hpp"
#include "lib/rules/slots.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::test {

// Several workers that hand packets to owners, share limits and take over rules whose keys meet
// other workers than before, step by step as a box does it. With one worker it is the oracle.
class MovingWorkers {
public:
    using Frame = std::vector<std::byte>;

    MovingWorkers(std::string_view rules, std::size_t workers, std::size_t keys = 1024)
        : lanes_{workers, 64} {
        std::vector<const BucketStore*> tables;
        for (std::size_t i = 0; i < workers; ++i) {
            workers_.push_back(std::make_unique<Worker>(keys));
            tables.push_back(&workers_.back()->core.buckets);
        }
        peers_ = std::make_unique<PeerTables>(std::move(tables));
        for (std::size_t i = 0; i < workers; ++i) {
            Worker& worker = *workers_[i];
            worker.core.buckets.look_at_peers(peers_.get());
            worker.ledger = std::make_unique<Ledger>(i, lanes_, worker.records, Instant{});
        }
        (void)begin_apply(rules);
    }

    // Other rules: workers adopt them as they come to judge.
    [[nodiscard]] Result<Done> begin_apply(std::string_view rules) {
        CompiledRules next = compile(rules, workers_.size());
        for (std::uint32_t row = 0; Rule & rule : next.set.rules) {
            rule.counters = row++;
        }
        next.set.classifier.make_fast();
        (void)map_origins(next.set);
        load_overrides(next.set, kSecret);
        list_spreads(next.set, workers_.size());
        share_limits(next.set, sharers());
        if (const Result<Done> fits = slots_.assign(next.set); !fits) {
            return fits;
        }
        current_ = std::move(next.set);
        load();
        return Done{};
    }
    // Once workers have told each other what they had to.
    void end_apply(Instant now) {
        turns(now);
        if (slots_.is_moving()) {
            RuleSet next = current_;
            (void)slots_.settle_moves(next).has_value();
            current_ = std::move(next);
            load();
        }
    }
    void apply(std::string_view rules, Instant now) {
        (void)begin_apply(rules).has_value();
        end_apply(now);
    }

    // A packet that comes to one worker; what its owner says of it.
    Decision judge(std::size_t at, const Frame& frame, Instant now) {
        Worker* judge = workers_[at].get();
        begin(*judge, frame);
        BurstOwners owners;
        if (!set().handing.empty() &&
            find_owners(burst_, set(), judge->core, workers_.size(), owners) &&
            owners[0] != kStays && owners[0] != at) {
            judge = workers_[owners[0]].get();
            begin(*judge, frame);
        }
        key_burst(burst_, set(), judge->core);
        locate_burst(burst_, judge->core);
        meter_burst(burst_, set(), judge->core, {now, {}});
        return burst_.packets()[0].decision;
    }
    // So many packets, each at the next worker: how many pass.
    std::uint64_t pass(std::uint64_t packets, const Frame& frame, Instant now) {
        std::uint64_t passed = 0;
        for (std::uint64_t i = 0; i < packets; ++i) {
            passed += judge(i % workers_.size(), frame, now).verdict == Verdict::Pass ? 1 : 0;
        }
        return passed;
    }

    // All workers hear each other.
    void turns(Instant now) {
        for (int round = 0; round < 6; ++round) {
            for (const auto& worker : workers_) {
                adopt(set(), worker->core, {now, {}});
                worker->ledger->set(Nanoseconds{0}, set().shared_limits,
                                    set().hurries ? Ledger::kNoLonger : Ledger::kLongestWait);
                worker->ledger->exchange(worker->books, {now, {}});
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
            if (worker->core.buckets.tenants.stale()) {
                sweep(*worker, now);
            }
        }
    }

    [[nodiscard]] const RuleSet& set() const { return loaded_.back()->set; }
    [[nodiscard]] bool is_moving() const { return slots_.is_moving(); }
    [[nodiscard]] SlotsImage slots() const { return slots_.image(); }
    [[nodiscard]] std::size_t size() const { return workers_.size(); }
    [[nodiscard]] std::uint64_t moved_debts() const {
        std::uint64_t sum = 0;
        for (const auto& worker : workers_) {
            sum += worker->counters.moved_debts.read();
        }
        return sum;
    }
    [[nodiscard]] std::uint64_t live_entries(LimitSlot slot) const {
        std::uint64_t sum = 0;
        for (const auto& worker : workers_) {
            sum += worker->core.buckets.tenants.entries_of(slot).read();
        }
        return sum;
    }
    [[nodiscard]] std::uint64_t unsynced() const {
        std::uint64_t records = 0;
        for (const auto& worker : workers_) {
            records += worker->ledger->records().in_use();
        }
        return records;
    }

private:
    static constexpr HashSecret kSecret{1, 2};
    static constexpr std::size_t kRecords = 256;

    struct Worker {
        explicit Worker(std::size_t keys)
            : records(kRecords),
              core{.policy = {},
                   .hash = KeyHasher{kSecret},
                   .buckets = BucketStore{keys, keys},
                   .counters = counters},
              books{core.buckets} {}
        WorkerCounters counters;
        std::vector<Record> records;
        CoreState core;
        BucketBooks books;
        std::unique_ptr<Ledger> ledger;
    };
    struct Loaded {
        RuleSet set;
    };

    static CompiledRules compile(std::string_view text, std::size_t workers) {
        Problems problems{"rules"};
        BoxSpread box = usual_spread();
        box.workers = workers;
        std::optional<CompiledRules> compiled = compile_rules(
            {.file = "rules", .text = text, .box = &box}, Purpose::Enforce, {}, problems);
        if (!compiled) {
            throw std::runtime_error(render(problems.list().front(), text));
        }
        return *std::move(compiled);
    }
    [[nodiscard]] Sharers sharers() const {
        return {workers_.size(), std::chrono::milliseconds{1}};
    }

    void load() {
        loaded_.push_back(std::make_unique<Loaded>(Loaded{current_}));
        RuleSet& next = loaded_.back()->set;
        share_limits(next, sharers());
        list_slots(next);
        next.load = loaded_.size();
        for (const auto& worker : workers_) {
            worker->core.ledger = next.shared_limits != 0 ? worker->ledger.get() : nullptr;
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
    void begin(Worker& me, const Frame& frame) {
        burst_.clear();
        (void)burst_.add({frame, static_cast<std::uint32_t>(frame.size())}, Direction::In,
                         port_name("lab"));
        parse_burst(burst_, me.core);
        origin_burst(burst_, set());
        match_burst(burst_, set(), me.core);
    }

    // One for all workers, which take turns: its memory is large.
    static inline Burst burst_;
    AmountLanes lanes_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::unique_ptr<PeerTables> peers_;
    LimitSlots slots_{{[this](LimitSlot slot) { return live_entries(slot); },
                       [this] {
                           std::uint64_t least = UINT64_MAX;
                           for (const auto& worker : workers_) {
                               least = std::min(least, worker->counters.settled.read());
                           }
                           return workers_.empty() ? 0 : least;
                       }}};
    RuleSet current_;
    std::vector<std::unique_ptr<Loaded>> loaded_;
};

}  // namespace sluice::test
