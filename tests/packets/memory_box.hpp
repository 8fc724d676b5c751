#pragma once
#include "lib/bucket/table/worker_tables.hpp"
#include "lib/engine/worker.hpp"
#include "lib/engine/worker/memory_host.hpp"
#include "lib/rules/port_rss_mapping.hpp"
#include "lib/share/published.hpp"
#include "tests/packets/left_frames.hpp"
#include "tests/packets/load_rules.hpp"
#include "tests/packets/reused_burst.hpp"
#include "tests/packets/turn_board.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::test {

struct MemoryBoxParts {
    std::size_t workers = 1;
    std::uint32_t buffers = 400;  // of each worker's lane
    unsigned held_percent = 25;   // of them, over all workers
    std::size_t keys = 1024;
    // Rules that are published without being in force.
    Running::State state = Running::State::Enforce;
    bool tell_wait = false;
    std::size_t ask_ring = 64;               // between two workers
    std::optional<ReserveBounds> reserve{};  // none: as the box has it
    std::size_t machines = 1;                // of a cluster, with a store; 1: it is of none
    // Puts limits elsewhere than the compiler has put them.
    std::function<void(RuleSet&)> place{};
};

// The workers of a box, as the box has them, with frames in memory and a clock that the test sets.
class MemoryBox {
public:
    using BoxWorker = Worker<LeftFrames::Lane, MemoryHost>;

    explicit MemoryBox(std::string_view rules, const MemoryBoxParts& parts = {})
        : place_{parts.place},
          size_{parts.workers},
          machines_{parts.machines},
          loaded_{load(rules, nullptr)},
          running_{running(parts.state)},
          peers_{parts.workers, {.merge = 64, .reserve = parts.ask_ring, .connections = 64}} {
        if (machines_ > 1) {
            peers_.questions.open_store();
        }
        for (std::size_t i = 0; i < parts.workers * parts.workers; ++i) {
            rings_.push_back(std::make_unique<MemoryRing>());
        }
        std::vector<const BucketStore*> tables;
        for (std::size_t i = 0; i < parts.workers; ++i) {
            add_worker(i, parts);
            tables.push_back(&workers_.back()->worker->buckets());
        }
        tables_ = std::make_unique<WorkerTables>(std::move(tables));
        for (const auto& one : workers_) {
            one->worker->meet(*tables_);
        }
    }

    // Other rules, from the next turn on.
    void publish(std::string_view rules) {
        loaded_ = load(rules, loaded_.get());
        publish(Running::State::Enforce);
    }
    // Another state of these rules, from the next turn on.
    void publish(Running::State state) {
        running_.publish(running(state)).reclaim(QuiesceBoard::between_turns());
    }
    // A frame comes to a worker, which sees it in its next turn.
    ShownFrame& show(std::string name, const Frame& frame, std::size_t at = 0) {
        return show(std::move(name), frame.bytes(), frame.dir(), frame.pair(), at);
    }
    ShownFrame& show(std::string name, Octets bytes, Direction dir, std::string_view pair,
                     std::size_t at) {
        ShownFrame& shown = shown_.emplace_back(std::move(name), std::move(bytes), dir, pair);
        workers_[at]->coming.push_back(&shown.frame);
        return shown;
    }
    // All frames so far, in the order in which they came.
    [[nodiscard]] const std::deque<ShownFrame>& shown() const { return shown_; }
    void set_time(Instant now) { now_.at = now; }
    // The fates of frames in a turn of one worker.
    std::vector<std::string> poll(std::size_t at = 0) {
        idle_ = workers_[at]->worker->poll() == 0;
        return out_.take();
    }
    // The worker's last turn had nothing to do.
    [[nodiscard]] bool was_idle() const { return idle_; }
    // At the end of a worker.
    std::vector<std::string> end(std::size_t at = 0) {
        workers_[at]->worker->run();
        return out_.take();
    }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] AskLanes& questions() { return peers_.questions; }
    [[nodiscard]] HeatSampler& heat(std::size_t at = 0) { return workers_[at]->heat; }
    [[nodiscard]] Now now() const { return now_; }
    [[nodiscard]] BoxWorker& worker(std::size_t at = 0) { return *workers_[at]->worker; }
    [[nodiscard]] const BoxWorker& worker(std::size_t at = 0) const {
        return *workers_[at]->worker;
    }
    [[nodiscard]] const WorkerCounters& counters(std::size_t at = 0) const {
        return workers_[at]->counters;
    }
    [[nodiscard]] std::uint64_t counted(Verdict verdict, std::size_t at = 0) const {
        return counters(at).by_verdict[static_cast<std::size_t>(verdict)].read();
    }
    [[nodiscard]] std::uint64_t counted(Reason reason, std::size_t at = 0) const {
        return counters(at).by_reason[static_cast<std::size_t>(reason)].read();
    }
    [[nodiscard]] const LoadedSet& set() const { return loaded_->set(); }
    [[nodiscard]] const LoadedRules& rules() const { return *loaded_; }

private:
    struct One {
        WorkerCounters counters;
        KeyEvents events;
        HeatSampler heat;
        std::vector<Record> records = std::vector<Record>(256);
        std::deque<MemoryFrame*> coming;
        std::unique_ptr<BoxWorker> worker;
    };

    [[nodiscard]] std::shared_ptr<const LoadedRules> load(std::string_view text,
                                                          const LoadedRules* before) const {
        RssMapping box = usual_rss_mapping();
        box.workers = size_;
        RuleSet rules = enforced({.file = "rules", .text = text, .box = &box}).set;
        if (place_) {
            place_(rules);
        }
        return std::make_shared<const LoadedRules>(
            loaded(std::move(rules), {.secret = kBoxSecret,
                                      .sharers = {size_, std::chrono::milliseconds{1}, machines_},
                                      .tables = full_tables(),
                                      .before = before}));
    }
    [[nodiscard]] std::unique_ptr<const Running> running(Running::State state) const {
        return std::make_unique<const Running>(Running{.state = state, .loaded = loaded_});
    }
    void add_worker(std::size_t at, const MemoryBoxParts& parts) {
        One& one = *workers_.emplace_back(std::make_unique<One>());
        MemoryEnds ends;
        for (std::size_t other = 0; other < parts.workers && parts.workers > 1; ++other) {
            ends.to.push_back(other == at ? nullptr : rings_[at * parts.workers + other].get());
            if (other != at) {
                ends.from.push_back(rings_[other * parts.workers + at].get());
            }
        }
        WorkerLanes<LeftFrames::Lane> lanes;
        lanes.lanes.emplace_back(one.coming, out_, parts.buffers, std::move(ends));
        one.worker = std::make_unique<BoxWorker>(
            roster_.enlist(),
            WorkerSetup{running_,
                        peers_,
                        parts.workers,
                        capture_unit_budget(),
                        {},
                        one.records,
                        parts.held_percent,
                        boards_,
                        parts.reserve.value_or(ReserveBounds::of(parts.workers)),
                        reused_bursts()},
            CoreState{.policy = {.tell_wait = parts.tell_wait},
                      .hash = KeyHasher{kBoxSecret},
                      .buckets = BucketStore{parts.keys, parts.keys},
                      .counters = one.counters,
                      .events = &one.events,
                      .heat = &one.heat},
            std::move(lanes), MemoryHost{now_});
    }

    Now now_{Instant{std::chrono::hours{1}}, {}};
    std::function<void(RuleSet&)> place_;
    std::size_t size_;
    std::size_t machines_;
    std::shared_ptr<const LoadedRules> loaded_;
    Published<Running> running_;
    PeerLanes peers_;
    AnswerBoards boards_{256, 4096};
    CoreRoster roster_;
    LeftFrames out_;
    std::deque<ShownFrame> shown_;
    std::vector<std::unique_ptr<MemoryRing>> rings_;  // by sender and owner
    std::vector<std::unique_ptr<One>> workers_;
    std::unique_ptr<WorkerTables> tables_;
    bool idle_ = false;
};

}  // namespace sluice::test
