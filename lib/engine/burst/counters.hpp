#pragma once
#include "lib/base/lazy_array.hpp"
#include "lib/bucket/table/table_event.hpp"
#include "lib/l7/stream/unit_event_counters.hpp"
#include "lib/packet/verdict.hpp"
#include "lib/respond/act/answer_event.hpp"
#include "lib/rules/load/loaded_set.hpp"
#include "lib/rules/rule_counts.hpp"
#include "lib/rules/stage.hpp"
#include "lib/share/core.hpp"

#include <array>
#include <span>

namespace sluice {

using RuleCounters = RuleNumbers<Counter>;
using BanCounters = BanNumbers<Counter>;

// By rule, which of its limits refused a packet, of rules with several.
class LimitCounters {
public:
    void refused(std::uint32_t row, std::size_t limit) noexcept { at(row, limit).add(1); }
    [[nodiscard]] std::uint64_t read(std::uint32_t row, std::size_t limit) const noexcept {
        return at(row, limit).read();
    }

private:
    [[nodiscard]] Counter& at(std::uint32_t row, std::size_t limit) const noexcept {
        return counters_[row * kMaxLimitsPerRule + limit];
    }
    // Memory of rows that no rule with several limits has is never touched.
    LazyArray<Counter> counters_ = zeroed_array<Counter>(kMaxRules * kMaxLimitsPerRule);
};

// Counters of one turn in kTurnsPerSample.
struct StageCounters {
    std::array<Counter, kStageCount> ticks;  // of the time-stamp counter
    Counter packets;                         // that went through the stages
    Counter turns;

    [[nodiscard]] Counter& ticks_of(Stage stage) noexcept {
        return ticks[static_cast<std::size_t>(stage)];
    }
    [[nodiscard]] const Counter& ticks_of(Stage stage) const noexcept {
        return ticks[static_cast<std::size_t>(stage)];
    }
};

// The counters of one worker. Written by it alone, read by anyone.
struct WorkerCounters {
    std::array<Counter, kVerdictCount> by_verdict;
    std::array<Counter, kVerdictCount> bytes_by_verdict;  // of the frames on the wire
    std::array<Counter, kReasonCount> by_reason;          // packets, forwarded or not
    std::array<Counter, kReasonCount> would_refuse;       // by services that monitor
    std::array<Counter, kTableEventCount> by_table_event;
    UnitEventCounters by_unit_event;
    std::array<Counter, kAnswerEventCount> by_answer_event;
    Counter handed_over;   // frames that it received for other workers
    Counter former_debts;  // that it took over from tables of earlier processes
    Counter moved_debts;   // and of keys that other workers had judged until a reload
    Counter settled;       // changes of numbers that every entry of its tables is written under
    Counter bursts;        // also the heartbeat: it grows while the worker runs
    LazyArray<RuleCounters> rules = zeroed_array<RuleCounters>(kMaxRules);
    LazyArray<BanCounters> bans = zeroed_array<BanCounters>(kMaxRules);  // by rule
    LimitCounters limits;
    StageCounters stages;

    // Adds what it has counted of the rule in a row.
    void add_rule(std::uint32_t row, RuleCounts& to) const {
        add_counters(rules[row], to);
        add_counters(bans[row], to);
    }
};

}  // namespace sluice
