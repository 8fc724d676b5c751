#include "lib/engine/stage/dry_run_burst.hpp"

#include "lib/bucket/meter/any_meter.hpp"
#include "lib/engine/burst/adopt.hpp"
#include "lib/engine/decide/decide_general.hpp"

#include <utility>

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
               std::span<LimitFinding> findings) noexcept
        : packet_{packet}, set_{set}, core_{core}, now_{now}, findings_{findings} {}

    DryRun run() noexcept {
        const std::size_t count =
            for_each_check(packet_, set_, [](LimitCheck&, const LimitFinding&, std::size_t) {});
        if (count > findings_.size()) {
            return {};
        }
        find_buckets();
        const bool tells_wait = std::exchange(core_.policy.tell_wait, true);
        const Decision decision = dry_run(packet_, set_, core_, now_);
        core_.policy.tell_wait = tells_wait;
        note_buckets();
        forget_new_buckets();
        return {.decided = true, .decision = decision, .findings = count};
    }

private:
    // Entries that look-ups have found elsewhere are none of this worker's.
    void find_buckets() noexcept {
        (void)for_each_check(
            packet_, set_, [&](LimitCheck& check, const LimitFinding& finding, std::size_t at) {
                check.entry = check.cost == Units{0} ? nullptr : core_.buckets.keys.find(check.key);
                findings_[at] = finding;
                findings_[at].has_bucket = check.entry != nullptr;
                findings_[at].cost = check.cost;
            });
    }
    void note_buckets() noexcept {
        LimitRegistry& registry = core_.buckets.registry;
        (void)for_each_check(
            packet_, set_, [&](const LimitCheck& check, const LimitFinding&, std::size_t at) {
                LimitFinding& finding = findings_[at];
                finding.asked = check.asked;
                finding.at_owner = check.at_owner;
                finding.conformance = check.conformance;
                if (!check.asked || check.entry == nullptr) {
                    return;
                }
                const Cell cell = registry.cell_of(*check.entry);
                finding.aggregation_level = check.entry->stamp().aggregation_level;
                finding.remaining = remaining(cell, *check.numbers, registry.pool(), now_);
                finding.wait = wait(cell, *check.numbers, registry.pool(), now_, {check.cost})
                                   .value_or(kNever);
            });
    }
    // Checks of several units may have found the same new one.
    void forget_new_buckets() noexcept {
        BucketStore& store = core_.buckets;
        (void)for_each_check(packet_, set_,
                             [&](const LimitCheck& check, const LimitFinding&, std::size_t at) {
                                 const bool is_new = !findings_[at].has_bucket && check.asked &&
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
    std::span<LimitFinding> findings_;
};

}  // namespace

DryRun dry_run_burst(Burst& burst, const LoadedSet& set, CoreState& core, Now now,
                     std::span<LimitFinding> findings) noexcept {
    if (has_row(burst.scratch().decided, 0)) {
        return {.decided = true, .decision = burst.decision(0)};
    }
    adopt(set, core, now);
    const TablesOfQuestion tables{core, now};
    return DryRunning{collect_checks(burst, 0, set), set, core, now, findings}.run();
}

}  // namespace sluice
