#include "lib/engine/stage/dry_run_burst.hpp"

#include "lib/bucket/meter/any_meter.hpp"
#include "lib/engine/burst/adopt.hpp"
#include "lib/engine/burst/burst_units.hpp"
#include "lib/engine/decide/decide_general.hpp"
#include "lib/engine/key/key_policy.hpp"
#include "lib/engine/key/penalty_box.hpp"
#include "lib/engine/key/source_ban.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace sluice {
namespace {

// Calls visit(check, rule, limit, unit) for each check of the packet; the number of them.
template <typename Visit>
std::size_t for_each_check(const PacketChecks& packet, const LoadedSet& set,
                           Visit&& visit) noexcept {
    std::size_t count = 0;
    for (std::size_t unit = 0; unit < packet.units.size(); ++unit) {
        for (const Match& match : packet.units[unit].matches) {
            const std::size_t limits = set.rules[match.rule].limits.size();
            for (std::size_t i = 0; i < limits; ++i) {
                visit(packet.checks[match.first + i],
                      LimitFinding{.rule = match.rule,
                                   .limit = static_cast<std::uint8_t>(i),
                                   .unit = static_cast<std::uint8_t>(unit)},
                      count++);
            }
        }
    }
    return count;
}

// The tables as the packet's burst would find them. Places that are sought for a question cost
// those that come after it nothing.
class TablesOfQuestion {
public:
    TablesOfQuestion(CoreState& core, Now now) noexcept
        : store_{core.buckets}, keys_{store_.keys.searches()}, parents_{store_.parents.searches()} {
        tend(core, now);
    }
    ~TablesOfQuestion() {
        store_.keys.undo_searches(keys_);
        store_.parents.undo_searches(parents_);
    }
    TablesOfQuestion(const TablesOfQuestion&) = delete;
    TablesOfQuestion& operator=(const TablesOfQuestion&) = delete;

private:
    BucketStore& store_;
    BucketTable::Searches keys_;
    BucketTable::Searches parents_;
};

class DryRunning {
public:
    DryRunning(const PacketChecks& packet, const LoadedSet& set, CoreState& core, Now now,
               const FindingsRoom& room) noexcept
        : packet_{packet}, set_{set}, core_{core}, now_{now}, room_{room} {}

    DryRun run() noexcept {
        const std::size_t count =
            for_each_check(packet_, set_, [](LimitCheck&, const LimitFinding&, std::size_t) {});
        const std::size_t bans = for_each_box([](const BanFinding&, std::size_t) {});
        if (count > room_.limits.size() || bans > room_.bans.size()) {
            return {};
        }
        (void)for_each_box(
            [this](const BanFinding& ban, std::size_t at) { room_.bans[at] = found(ban); });
        find_buckets();
        const bool tells_wait = std::exchange(core_.policy.tell_wait, true);
        const Decision decision = dry_run_charges(packet_, set_, core_, now_);
        core_.policy.tell_wait = tells_wait;
        note_buckets();
        forget_new_buckets();
        return {.decided = true, .decision = decision, .findings = count, .bans = bans};
    }

private:
    // Calls visit(ban, number) for each box of each rule that a unit matches; the number of them.
    template <typename Visit>
    std::size_t for_each_box(Visit&& visit) const noexcept {
        std::size_t count = 0;
        for (std::size_t unit = 0; unit < packet_.units.size(); ++unit) {
            for (const Match& match : packet_.units[unit].matches) {
                for (const LoadedLimit& box : set_.rules[match.rule].ban.boxes) {
                    visit(BanFinding{.rule = match.rule,
                                     .key = box.key,
                                     .unit = static_cast<std::uint8_t>(unit)},
                          count++);
                }
            }
        }
        return count;
    }
    [[nodiscard]] RuleKeys keys_of(std::uint32_t rule, std::size_t unit) const noexcept {
        const EvaluatedUnit& of = packet_.units[unit];
        return {set_.rules[rule], of.burst->headers_of(of.row), of.burst->frame(of.row).bytes,
                core_.hash};
    }
    [[nodiscard]] BanFinding found(BanFinding ban) const noexcept {
        const RuleKeys keys = keys_of(ban.rule, ban.unit);
        const std::vector<LoadedLimit>& boxes = keys.rule().ban.boxes;
        const auto box = std::find_if(boxes.begin(), boxes.end(),
                                      [&](const LoadedLimit& one) { return one.key == ban.key; });
        const PenaltyBoxes all{keys, core_, now_};
        ban.after = most_of(box->limit);
        ban.left = all.ban_in(*box).left;
        ban.refusals = all.refusals_in(*box);
        return ban;
    }

    // Entries that look-ups have found elsewhere are none of this worker's.
    void find_buckets() noexcept {
        (void)for_each_check(
            packet_, set_, [&](LimitCheck& check, const LimitFinding& finding, std::size_t at) {
                const RuleKeys keys = keys_of(finding.rule, finding.unit);
                const LoadedLimit& limit = keys.rule().limits[finding.limit];
                Entry* const entry =
                    keys.has(limit.key) ? core_.buckets.keys.find(keys.table_key(limit)) : nullptr;
                check.entry = check.cost == Units{0} ? nullptr : entry;
                room_.limits[at] = finding;
                room_.limits[at].has_bucket = entry != nullptr;
                room_.limits[at].cost = check.cost;
                if (entry != nullptr) {
                    note_unasked(check, *entry, keys, room_.limits[at]);
                }
            });
    }
    // A bucket as the packet would find it, should its limit be asked.
    void note_unasked(const LimitCheck& check, Entry& entry, const RuleKeys& keys,
                      LimitFinding& finding) noexcept {
        LimitRegistry& registry = core_.buckets.registry;
        const LoadedLimit& limit = keys.rule().limits[finding.limit];
        const OwnNumbers own = KeyOverride{keys, limit.key, now_}.own_numbers(finding.limit);
        registry.update(entry, now_);
        if (!limit.overridden || registry.bring_under(entry, own, now_)) {
            note(check, entry, own.numbers != nullptr ? *own.numbers : limit.limit, finding);
        }
    }
    void note(const LimitCheck& check, const Entry& entry, const AnyLimit& numbers,
              LimitFinding& finding) noexcept {
        LimitRegistry& registry = core_.buckets.registry;
        const Cell cell = registry.cell_of(entry);
        finding.aggregation_level = entry.stamp().aggregation_level;
        finding.remaining = remaining(cell, numbers, registry.pool(), now_);
        const std::uint32_t value = needs_value(numbers) ? check.shown_value() : 0;
        finding.wait =
            wait(cell, numbers, registry.pool(), now_, {.cost = finding.cost, .value = value})
                .value_or(kNever);
    }
    void note_buckets() noexcept {
        (void)for_each_check(packet_, set_,
                             [&](const LimitCheck& check, const LimitFinding&, std::size_t at) {
                                 LimitFinding& finding = room_.limits[at];
                                 finding.asked = check.asked;
                                 finding.charged = check.charged && !check.counts_already();
                                 finding.at_owner = check.at_owner;
                                 finding.conformance = check.conformance;
                                 if (check.asked && check.entry != nullptr) {
                                     note(check, *check.entry, *check.numbers, finding);
                                 }
                             });
    }
    // Checks of several units may have found the same new one.
    void forget_new_buckets() noexcept {
        BucketStore& store = core_.buckets;
        (void)for_each_check(packet_, set_,
                             [&](const LimitCheck& check, const LimitFinding&, std::size_t at) {
                                 const bool is_new = !room_.limits[at].has_bucket && check.asked &&
                                                     check.entry != nullptr &&
                                                     check.entry == store.keys.find(check.key);
                                 if (is_new) {
                                     store.registry.forget(*check.entry);
                                 }
                             });
    }

    const PacketChecks& packet_;
    const LoadedSet& set_;
    CoreState& core_;
    Now now_;
    const FindingsRoom& room_;
};

}  // namespace

DryRun dry_run_burst(Burst& burst, const LoadedSet& set, CoreState& core, Now now,
                     const FindingsRoom& room) noexcept {
    const Scratch& scratch = burst.scratch();
    const bool is_decided = has_row(scratch.decided, 0);
    if (is_decided && !has_row(scratch.on_sight, 0)) {
        return {.decided = true, .decision = burst.decision(0)};
    }
    adopt(set, core, now);
    const TablesOfQuestion tables{core, now};
    find_bans(burst, set, core, now);  // as this worker knows of them
    if (is_decided) {
        return {.decided = true, .decision = burst.decision(0)};
    }
    const PacketChecks packet = collect_checks(burst, 0, set);
    const DryRun run = DryRunning{packet, set, core, now, room}.run();
    for (std::size_t unit = 0; packet.units.size() > 1 && unit < packet.units.size(); ++unit) {
        burst.units()->decision(0, unit) = packet.units[unit].decision;
    }
    return run;
}

}  // namespace sluice
