#pragma once
#include "lib/pipeline/owner_burst.hpp"
#include "lib/pipeline/run_burst.hpp"
#include "lib/pipeline/shared_limits.hpp"
#include "lib/policy/compile.hpp"
#include "lib/rules/limit_slots.hpp"
#include "lib/rules/load_overrides.hpp"
#include "lib/rules/origins.hpp"
#include "lib/rules/slots.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace sluice::test {

// Several workers under one rule set that hand packets to the owners of their keys, stage by stage
// as a box does it. With one worker it is the oracle: nothing is handed over.
class OwnerWorkers {
public:
    using Frame = std::vector<std::byte>;

    OwnerWorkers(std::string_view rules, std::size_t workers, std::size_t keys = 4096)
        : compiled_{compile(rules, workers)} {
        for (std::uint32_t row = 0; Rule & rule : compiled_.set.rules) {
            rule.counters = row++;
        }
        compiled_.set.classifier.make_fast();
        (void)map_origins(compiled_.set);
        load_overrides(compiled_.set, kSecret);
        (void)slots_.assign(compiled_.set);
        share_limits(compiled_.set, {workers, std::chrono::milliseconds{1}});
        list_slots(compiled_.set);
        for (std::size_t i = 0; i < workers; ++i) {
            workers_.push_back(std::make_unique<Worker>(keys, compiled_.set));
        }
    }

    // Frames that come to one worker together. Their decisions, once all owners have judged them.
    std::vector<Decision> judge(std::size_t at, const std::vector<Frame>& frames, Instant now) {
        Worker& receiver = *workers_[at];
        burst_.clear();
        std::vector<Decision> decisions(frames.size());
        for (std::size_t i = 0; i < frames.size(); ++i) {
            add(burst_, frames[i], &decisions[i]);
        }
        begin(receiver);
        hand_over(at);
        end(receiver, now);
        for (const auto& worker : workers_) {
            if (!worker->inbox.empty()) {
                receive(*worker, now);
            }
        }
        frames_.clear();
        return decisions;
    }
    Decision judge(std::size_t at, const Frame& frame, Instant now) {
        return judge(at, std::vector<Frame>{frame}, now).front();
    }

    [[nodiscard]] const CompiledRules& compiled() const { return compiled_; }
    [[nodiscard]] std::size_t size() const { return workers_.size(); }
    [[nodiscard]] std::uint64_t handed() const { return handed_; }

private:
    static constexpr HashSecret kSecret{1, 2};

    struct Waiting {
        const Frame* frame;
        Decision* decision;
    };
    struct Worker {
        Worker(std::size_t keys, const RuleSet& set)
            : texts{*TextScratch::make(set.classifier.texts())},
              core{.policy = {},
                   .hash = KeyHasher{kSecret},
                   .buckets = BucketStore{keys, keys},
                   .counters = counters,
                   .texts = texts.get()} {}
        WorkerCounters counters;
        std::unique_ptr<TextScratch> texts;
        CoreState core;
        std::vector<Waiting> inbox;
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

    static void add(Burst& burst, const Frame& frame, Decision* decision) {
        (void)burst.add({frame, static_cast<std::uint32_t>(frame.size())}, Direction::In,
                        port_name("lab"), decision);
    }

    void begin(Worker& me) {
        parse_burst(burst_, me.core);
        origin_burst(burst_, compiled_.set);
        match_burst(burst_, compiled_.set, me.core);
    }

    void hand_over(std::size_t at) {
        Worker& me = *workers_[at];
        BurstOwners owners;
        if (compiled_.set.handing.empty() ||
            !find_owners(burst_, compiled_.set, me.core, workers_.size(), owners)) {
            return;
        }
        BurstSplit split;
        for (std::size_t row = 0; row < burst_.size(); ++row) {
            const Packet& packet = burst_.packets()[row];
            if (owners[row] == kStays || owners[row] == at) {
                continue;
            }
            auto* decision = static_cast<Decision*>(packet.buffer);
            frames_.emplace_back(packet.frame.bytes.begin(), packet.frame.bytes.end());
            workers_[owners[row]]->inbox.push_back({&frames_.back(), decision});
            split.gone |= std::uint32_t{1} << row;
            ++handed_;
        }
        split_burst(burst_, split, compiled_.set);
    }

    void end(Worker& me, Instant now) {
        key_burst(burst_, compiled_.set, me.core);
        locate_burst(burst_, me.core);
        meter_burst(burst_, compiled_.set, me.core, {now, {}});
        for (const Packet& packet : burst_.packets()) {
            *static_cast<Decision*>(packet.buffer) = packet.decision;
        }
    }

    void receive(Worker& me, Instant now) {
        burst_.clear();
        for (const Waiting& waiting : me.inbox) {
            add(burst_, *waiting.frame, waiting.decision);
        }
        me.inbox.clear();
        begin(me);
        end(me, now);
    }

    // One for all workers, which take turns, of all tests: its memory is large.
    static inline Burst burst_;
    CompiledRules compiled_;
    LimitSlots slots_{
        {[](LimitSlot) { return std::uint64_t{0}; }, [] { return std::uint64_t{0}; }}};
    std::vector<std::unique_ptr<Worker>> workers_;
    std::deque<Frame> frames_;  // on their way
    std::uint64_t handed_ = 0;
};

}  // namespace sluice::test
