#include "lib/engine/key/event_burst.hpp"

#include "lib/bucket/meter/any_meter.hpp"
#include "lib/bucket/meter/penalty.hpp"
#include "lib/engine/burst/adopt.hpp"
#include "lib/engine/burst/burst_units.hpp"
#include "lib/engine/key/key_policy.hpp"
#include "lib/rules/coarse_key.hpp"
#include "lib/watch/events/key_events.hpp"

#include <algorithm>
#include <optional>
#include <span>

namespace sluice {
namespace {

// The key's own bucket of a limit at this worker, under the numbers that it has now.
struct OwnState {
    Entry* entry = nullptr;
    const AnyLimit* numbers = nullptr;
};

OwnState own_state(const TableKey& key, const LoadedLimit& limit, const OwnNumbers& own,
                   CoreState& core, Now now) noexcept {
    LimitRegistry& registry = core.buckets.registry;
    Entry* const entry = core.buckets.keys.find(key);
    if (entry == nullptr) {
        return {};
    }
    registry.update(*entry, now);
    if (limit.overridden && !registry.bring_under(*entry, own, now)) {
        return {};
    }
    return {entry, own.numbers != nullptr ? own.numbers : &limit.limit};
}

Nanoseconds wait_in(const OwnState& state, Units cost, Color color, CoreState& core,
                    Now now) noexcept {
    LimitRegistry& registry = core.buckets.registry;
    return wait(registry.cell_of(*state.entry), *state.numbers, registry.pool(), now, {cost, color})
        .value_or(kNever);
}

// The refusals of one rule in one burst, or in one of the bursts that its units are in.
class Noting {
public:
    Noting(Burst& burst, std::uint32_t rule, const LoadedSet& set, CoreState& core,
           Now now) noexcept
        : burst_{burst},
          scratch_{burst.scratch()},
          index_{rule},
          rule_{set.rules[rule]},
          set_{set},
          core_{core},
          now_{now} {}

    void note_row(std::size_t row) noexcept {
        const PacketHeaders& headers = burst_.headers_of(row);
        const ByteView frame = burst_.frame(row).bytes;
        if (rule_.asks_keys) {
            keys_.emplace(rule_, headers, frame, core_.hash);
            if (is_banned(policy_of(*keys_, core_, now_).status)) {
                return;
            }
        }
        const BucketLookup* elsewhere = nullptr;
        bool noted = false;
        const LimitPlan* const limits = set_.meter_plan.limits.data();
        for (std::uint32_t at = scratch_.first[row]; at < scratch_.first[row + 1]; ++at) {
            const BucketLookup& lookup = scratch_.lookups[at];
            const LimitPlan& plan = limits[lookup.limit];
            if (plan.rule != index_ || plan.meter == FastMeter::Penalty) {
                continue;
            }
            switch (note(lookup, plan, row)) {
                case Found::Refuses:
                    noted = true;
                    break;
                case Found::Elsewhere:
                    elsewhere = elsewhere == nullptr ? &lookup : elsewhere;
                    break;
                case Found::Admits:
                    break;
            }
        }
        if (!noted && elsewhere != nullptr) {
            notify(*elsewhere, limits[elsewhere->limit], row, kNever);
        }
    }

private:
    // The limit's answer for the key now: nothing was spent since it was asked.
    enum class Found : std::uint8_t {
        Refuses,
        Admits,
        Elsewhere,  // what counts is not in a bucket of the key's own at this worker
    };
    Found note(const BucketLookup& lookup, const LimitPlan& plan, std::size_t row) noexcept {
        WatchedKey* const watched = core_.events->find(lookup.key);
        if (watched != nullptr && !KeyEvents::asks_wait(*watched, now_)) {
            core_.events->refused_again(*watched, now_);
            return Found::Refuses;
        }
        const LoadedLimit& limit = rule_.limits[plan.index];
        if (limit.asked) {
            return Found::Elsewhere;
        }
        const OwnNumbers own = keys_ && limit.overridden
                                   ? KeyOverride{*keys_, limit.key, now_}.own_numbers(plan.index)
                                   : OwnNumbers{};
        const OwnState state = own_state(lookup.key, limit, own, core_, now_);
        if (state.entry == nullptr) {
            return Found::Elsewhere;
        }
        const Nanoseconds left =
            wait_in(state, cost_of(lookup, plan), color_of_row(burst_.headers(), row), core_, now_);
        if (left == Nanoseconds{0}) {
            return limit.shared != 0 ? Found::Elsewhere : Found::Admits;
        }
        notify(lookup, plan, row, left);
        return Found::Refuses;
    }

    void notify(const BucketLookup& lookup, const LimitPlan& plan, std::size_t row,
                Nanoseconds left) noexcept {
        const KeyEvents::About about{.key = lookup.key,
                                     .identity = rule_.limits[plan.index].identity,
                                     .rule = index_,
                                     .limit = plan.index,
                                     .rule_key = plan.key,
                                     .events = rule_.events};
        WatchedKey* watched = core_.events->find(lookup.key);
        if (watched == nullptr) {
            KeyBytes key;
            (void)key_of(rule_.keys[plan.key], rule_.missing_key, burst_.headers_of(row),
                         burst_.frame(row).bytes, key);
            watched = core_.events->watch(about, key.view());
        }
        if (watched != nullptr) {
            core_.events->refused(*watched, cost_of(lookup, plan), left, now_);
        }
    }

    [[nodiscard]] static Units cost_of(const BucketLookup& lookup, const LimitPlan& plan) noexcept {
        return Units{std::uint64_t{lookup.units} * plan.cost};
    }

    Burst& burst_;
    Scratch& scratch_;
    std::uint32_t index_;
    const LoadedRule& rule_;
    const LoadedSet& set_;
    CoreState& core_;
    Now now_;
    std::optional<RuleKeys> keys_;  // of the row, where overrides or a ban ask for them
};

void note_in(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept {
    Scratch& scratch = burst.scratch();
    for (const ActiveRule& active : std::span{scratch.rules.get(), scratch.rule_count}) {
        if (active.refused == 0 || !set.rules[active.rule].events.has_limits()) {
            continue;
        }
        Noting noting{burst, active.rule, set, core, now};
        for_each_row(active.refused, [&](std::size_t row) { noting.note_row(row); });
    }
}

// How long a watched key has to wait yet.
class Waits {
public:
    Waits(const LoadedSet& set, CoreState& core, Now now) noexcept
        : set_{set}, core_{core}, now_{now} {}

    [[nodiscard]] Nanoseconds operator()(const WatchedKey& watched) const noexcept {
        return watched.is_ban ? ban_of(watched) : wait_of(watched);
    }

private:
    [[nodiscard]] Nanoseconds ban_of(const WatchedKey& watched) const noexcept {
        BucketStore& store = core_.buckets;
        Entry* const entry =
            watched.is_wider ? store.parents.find(watched.key) : store.keys.find(watched.key);
        if (entry == nullptr) {
            return Nanoseconds{0};
        }
        store.registry.update(*entry, now_);
        const Cell cell = entry->cell();
        return PenaltyMeter::banned(cell, now_.at) ? cell.fresh_from - now_.at : Nanoseconds{0};
    }
    [[nodiscard]] Nanoseconds wait_of(const WatchedKey& watched) const noexcept {
        const LoadedRule& rule = set_.rules[watched.rule];
        const LoadedLimit& limit = rule.limits[watched.limit];
        const RuleKeys keys{rule, watched.rule_key, watched.view(), core_.hash};
        const OwnNumbers own = limit.overridden
                                   ? KeyOverride{keys, limit.key, now_}.own_numbers(watched.limit)
                                   : OwnNumbers{};
        const OwnState state = own_state(watched.key, limit, own, core_, now_);
        return state.entry == nullptr ? Nanoseconds{0}
                                      : wait_in(state, watched.cost, Color::Green, core_, now_);
    }

    const LoadedSet& set_;
    CoreState& core_;
    Now now_;
};

}  // namespace

void note_refusals(Burst& burst, const LoadedSet& set, CoreState& core, Now now) noexcept {
    core.events->adopt(set);
    note_in(burst, set, core, now);
    if (burst.units() != nullptr) [[unlikely]] {
        for (Burst& further : burst.units()->further()) {
            note_in(further, set, core, now);
        }
    }
}

void note_ban(const RuleKeys& keys, const LoadedLimit& box, std::uint8_t aggregation_level,
              const CheckContext& context) noexcept {
    CoreState& core = context.core;
    const LoadedRule& rule = keys.rule();
    KeyBytes room;
    ByteView bytes = keys.bytes(box.key, room);
    KeyEvents::About about{.key = keys.table_key(box),
                           .identity = box.identity,
                           .rule = static_cast<std::uint32_t>(&rule - context.set.rules.data()),
                           .limit = box.key,
                           .rule_key = box.key,
                           .events = rule.events,
                           .is_wider = aggregation_level != 0};
    const CoarseKeys networks{bytes};
    if (about.is_wider && aggregation_level <= networks.keys().size()) {
        bytes = networks.keys()[aggregation_level - 1].view();
        about.key = {core.hash(box.identity, bytes), box.slot};
    }
    core.events->adopt(context.set);
    WatchedKey* watched = core.events->find(about.key);
    if (watched == nullptr) {
        watched = core.events->watch(about, bytes);
    }
    if (watched != nullptr) {
        core.events->banned(*watched, Nanoseconds{std::get<PenaltyLimit>(box.limit).lasts},
                            context.now);
    }
}

void notify_due_events(const LoadedSet& set, CoreState& core, Now now) noexcept {
    if (core.events == nullptr || core.events->empty()) {
        return;
    }
    adopt(set, core, now);
    core.events->adopt(set);
    core.events->notify_due(now, Waits{set, core, now});
}

void look_again(const KeyQuestion& question, const LoadedSet& set, CoreState& core,
                Now now) noexcept {
    if (core.events == nullptr || core.events->empty() || question.action == KeyAction::Show ||
        question.load != set.load || question.rule >= set.rules.size()) {
        return;
    }
    core.events->adopt(set);
    const auto look = [&](const TableKey& key) {
        if (WatchedKey* const watched = core.events->find(key)) {
            core.events->look_again(*watched, now);
        }
    };
    const LoadedRule& rule = set.rules[question.rule];
    const CoarseKeys networks{question.bytes.view()};
    for_each_state(rule, [&](const LoadedLimit& limit) {
        if (limit.key != question.key) {
            return;
        }
        look({core.hash(limit.identity, question.bytes.view()), limit.slot});
        for (const KeyBytes& network : networks.keys()) {
            look({core.hash(limit.identity, network.view()), limit.slot});
        }
    });
}

}  // namespace sluice
