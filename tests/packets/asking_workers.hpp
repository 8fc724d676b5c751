#pragma once
#include "lib/bucket/table/worker_tables.hpp"
#include "lib/engine/remote/reserve_client.hpp"
#include "lib/engine/remote/reserve_server.hpp"
#include "lib/engine/run_burst.hpp"
#include "lib/l7/stream/unit_parser.hpp"
#include "lib/policy/compile.hpp"
#include "tests/packets/arrivals.hpp"
#include "tests/packets/load_rules.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::test {

// Several workers that ask each other about keys, step by step as a box does it: about all limits
// but those by source, which packets reach workers by.
class AskingWorkers {
public:
    using Frame = std::vector<std::byte>;
    struct Sizes {
        RoomBounds room{.packets = 64, .questions = 128, .longest = std::chrono::milliseconds{10}};
        std::size_t ring = 256;
        Nanoseconds lifetime = std::chrono::seconds{1};
        std::size_t keys = 1024;
        UnitFinder finder = lone_unit_finder();
    };
    struct Sent {
        Frame frame;
        std::string_view pair = "lab";
        Direction dir = Direction::In;
        Decision decision;
        Normalization changes;
        bool decided = false;
        std::size_t rank = 0;  // among all that were decided, from 1 on
    };

    AskingWorkers(std::string_view rules, std::size_t workers)
        : AskingWorkers{rules, workers, Sizes{}} {}
    AskingWorkers(std::string_view rules, std::size_t workers, const Sizes& sizes)
        : box_{usual_spread()}, lanes_{workers, sizes.ring} {
        box_.workers = workers;
        std::vector<const BucketStore*> tables;
        for (std::size_t i = 0; i < workers; ++i) {
            workers_.push_back(std::make_unique<Worker>(i, lanes_, sizes));
            tables.push_back(&workers_.back()->core.buckets);
        }
        worker_tables_ = std::make_unique<WorkerTables>(std::move(tables));
        for (const auto& worker : workers_) {
            worker->core.buckets.set_worker_tables(worker_tables_.get());
            worker->core.asker = workers > 1 ? &worker->asker : nullptr;
        }
        burst_.find_units_by(sizes.finder);
        apply(rules);
    }

    void apply(std::string_view text) {
        RuleSet rules = enforced({.file = "rules", .text = text, .box = &box_}).set;
        for (Rule& rule : rules.rules) {
            rule.owner_group = 0;
            for (MeteredLimit& limit : rule.limits) {
                const GroupingKey& key = rule.keys[limit.key];
                const bool local = std::any_of(key.begin(), key.end(), [](const KeyPart& part) {
                    return part.field == Field::IpSrc && !part.text;
                });
                limit.scope = local ? LimitScope::Local : LimitScope::Asked;
            }
        }
        rules.owner_groups.clear();
        Environment environment{.secret = kBoxSecret,
                                .sharers = {workers_.size(), std::chrono::milliseconds{1}},
                                .tables = full_tables(),
                                .before = loaded_.empty() ? nullptr : loaded_.back().get()};
        loaded_.push_back(
            std::make_unique<const LoadedRules>(loaded(std::move(rules), environment)));
        for (std::size_t i = 0; i < workers_.size(); ++i) {
            workers_[i]->core.texts = loaded_.back()->texts(i);
        }
    }

    // Frames that come to one worker together: the number of the first among all that were sent.
    std::size_t send(std::size_t at, const std::vector<Frame>& frames, Instant now,
                     std::string_view pair = "lab", Direction dir = Direction::In) {
        const std::size_t first = sent_.size();
        burst_.clear();
        for (const Frame& frame : frames) {
            Sent& sent = sent_.emplace_back();
            sent.frame = frame;
            arrive(burst_, sent.frame, &sent, sent.dir = dir, sent.pair = pair);
        }
        run(*workers_[at], now);
        return first;
    }
    // What a worker does between two bursts.
    void serve(std::size_t at, Instant now) {
        workers_[at]->owner.serve(set(), workers_[at]->core, {now, {}});
    }
    void take_answers(std::size_t at, Instant now) { workers_[at]->asker.take_answers(now); }
    void resume(std::size_t at, Instant now) {
        Worker& worker = *workers_[at];
        std::array<RoomPlace, kMaxBurst> places;
        places.fill(kNoRoomPlace);  // those beyond what is taken name no packet
        while (const std::size_t count = worker.asker.take_ready(places)) {
            burst_.clear();
            for (std::size_t i = 0; i < count; ++i) {
                auto* const sent = static_cast<Sent*>(worker.asker.held(places[i]).buffer);
                arrive(burst_, sent->frame, sent, sent->dir, sent->pair);
            }
            burst_.come_from_room(std::span{places}.first(count));
            run(worker, now);
        }
    }
    void turn(std::size_t at, Instant now) {
        serve(at, now);
        take_answers(at, now);
        resume(at, now);
    }
    // All workers, until nobody has anything to say.
    void settle(Instant now) {
        for (int round = 0; round < 4; ++round) {
            for (std::size_t at = 0; at < workers_.size(); ++at) {
                turn(at, now);
            }
        }
    }
    // One packet, decided.
    Decision judge(std::size_t at, const Frame& frame, Instant now, Direction dir = Direction::In) {
        const std::size_t number = send(at, {frame}, now, "lab", dir);
        settle(now);
        return sent_[number].decision;
    }

    [[nodiscard]] const std::deque<Sent>& sent() const { return sent_; }
    [[nodiscard]] std::uint64_t passed() const {
        return static_cast<std::uint64_t>(std::count_if(
            sent_.begin(), sent_.end(),
            [](const Sent& one) { return one.decided && forwards(one.decision.verdict); }));
    }
    [[nodiscard]] const LoadedSet& set() const { return loaded_.back()->set(); }
    [[nodiscard]] ReserveClient& asker(std::size_t at) { return workers_[at]->asker; }
    [[nodiscard]] ReserveServer& owner(std::size_t at) { return workers_[at]->owner; }
    [[nodiscard]] CoreState& core(std::size_t at) { return workers_[at]->core; }
    [[nodiscard]] std::uint64_t asked() const { return counted(AskEvent::Asked); }
    [[nodiscard]] std::uint64_t counted(AskEvent event) const {
        return sum([event](const Worker& worker) {
            return worker.asker.counters().of(event) + worker.owner.counters().of(event);
        });
    }
    [[nodiscard]] std::uint64_t waiting() const {
        return sum([](const Worker& worker) { return worker.asker.size(); });
    }
    [[nodiscard]] std::uint64_t reserved() const {
        return sum([](const Worker& worker) { return worker.owner.reservations().size(); });
    }
    [[nodiscard]] std::uint64_t counted(TableEvent event) const {
        return sum([event](const Worker& worker) {
            return worker.counters.by_table_event[static_cast<std::size_t>(event)].read();
        });
    }
    [[nodiscard]] std::uint64_t counted(UnitEvent event) const {
        return sum([event](const Worker& worker) {
            return worker.counters.by_unit_event[static_cast<std::size_t>(event)].read();
        });
    }
    // Of one rule: admitted, exceeded, skipped.
    [[nodiscard]] std::array<std::uint64_t, 3> counted(std::size_t rule) const {
        const std::uint32_t row = set().rules[rule].counters;
        return {sum([row](const Worker& one) { return one.counters.rules[row].admitted.read(); }),
                sum([row](const Worker& one) { return one.counters.rules[row].exceeded.read(); }),
                sum([row](const Worker& one) { return one.counters.rules[row].skipped.read(); })};
    }

private:
    struct Worker {
        Worker(std::size_t self, AskLanes& lanes, const Sizes& sizes)
            : core{.policy = {},
                   .hash = KeyHasher{kBoxSecret},
                   .buckets = BucketStore{sizes.keys, sizes.keys},
                   .counters = counters},
              asker{self, lanes, sizes.room},
              owner{self, lanes, {sizes.room.questions, sizes.lifetime}} {}
        WorkerCounters counters;
        CoreState core;
        ReserveClient asker;
        ReserveServer owner;
    };

    template <typename Read>
    [[nodiscard]] std::uint64_t sum(const Read& read) const {
        std::uint64_t all = 0;
        for (const auto& worker : workers_) {
            all += read(*worker);
        }
        return all;
    }
    void run(Worker& worker, Instant now) {
        run_burst(burst_, set(), worker.core, {now, {}});
        for_each_row(burst_.live(), [&](std::size_t row) {
            const Packet& packet = burst_.packets()[row];
            auto* const sent = static_cast<Sent*>(packet.buffer);
            sent->decision = packet.decision;
            sent->changes = burst_.normalization(row);
            sent->decided = true;
            sent->rank = ++decided_;
        });
    }

    static inline Burst burst_;
    RssMapping box_;
    AskLanes lanes_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::unique_ptr<WorkerTables> worker_tables_;
    std::vector<std::unique_ptr<const LoadedRules>> loaded_;
    std::deque<Sent> sent_;
    std::size_t decided_ = 0;
};

}  // namespace sluice::test
