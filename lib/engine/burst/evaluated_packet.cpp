#include "lib/engine/burst/evaluated_packet.hpp"

#include "lib/bucket/meter/distinct_values.hpp"
#include "lib/engine/burst/burst_units.hpp"

namespace sluice {
namespace {

// Matches and checks that all units of one packet have written down so far.
struct Written {
    Match* matches;
    LimitCheck* checks;
    std::uint32_t match_count = 0;
    std::uint32_t check_count = 0;
    std::uint32_t shared_count = 0;  // of those checks, under limits that workers share
};

// One unit, from the row that stands for it.
class Gathering {
public:
    Gathering(Burst& burst, std::size_t row, const LoadedSet& set, Written& written) noexcept
        : scratch_{burst.scratch()},
          plan_{set.meter_plan},
          row_{row},
          written_{written},
          next_{&scratch_.lookups[scratch_.first[row]]},
          end_{&scratch_.lookups[scratch_.first[row + 1]]} {}

    std::span<Match> run() noexcept {
        const std::uint32_t first = written_.match_count;
        for (const ActiveRule& active : std::span{scratch_.rules.get(), scratch_.rule_count}) {
            if (has_row(active.rows, row_)) {
                add(active);
            }
        }
        return {&written_.matches[first], written_.match_count - first};
    }

private:
    void add(const ActiveRule& active) noexcept {
        const RulePlan& rule = plan_.rules[active.rule];
        written_.matches[written_.match_count++] = {.rule = active.rule,
                                                    .first = written_.check_count,
                                                    .skipped = has_row(active.skipped, row_)};
        for (std::uint32_t i = 0; i < rule.limits; ++i) {
            written_.checks[written_.check_count++] = check_of(rule.first_limit + i);
        }
        skip_boxes();
    }

    [[nodiscard]] LimitCheck check_of(std::uint32_t limit) noexcept {
        const LimitPlan& plan = plan_.limits[limit];
        LimitCheck check;
        const bool has_key = has_row(scratch_.has_key[plan.schema], row_);
        check.digest = has_key ? scratch_.digests[plan.schema][row_] : 0;
        if (next_ != end_ && next_->limit == limit) {
            check.key = next_->key;
            check.cost = Units{std::uint64_t{next_->units} * plan.cost};
            check.entry = next_->entry;
            check.shared_before = written_.shared_count;
            written_.shared_count += plan.max_unsynced != 0 ? 1 : 0;
            if (plan.values != 0) [[unlikely]] {
                check.value = ShownValue::of(scratch_.digests[plan.values - 1][row_]).bits;
            }
            ++next_;
        }
        return check;
    }

    // The general path looks its penalty boxes up by itself.
    void skip_boxes() noexcept {
        while (next_ != end_ && plan_.limits[next_->limit].meter == FastMeter::Penalty) {
            ++next_;
        }
    }

    Scratch& scratch_;
    const MeterPlan& plan_;
    std::size_t row_;
    Written& written_;
    const BucketLookup* next_;
    const BucketLookup* end_;
};

// Links each match to the same rule's in the nearest unit before that has one.
void link(std::span<Match> matches, const LoadedSet& set, Written& written,
          BurstUnits& units) noexcept {
    for (Match& match : matches) {
        std::uint32_t& latest = units.latest_match[match.rule];
        match.previous = latest;
        latest = static_cast<std::uint32_t>(&match - written.matches) + 1;
        for (std::uint32_t i = 0;
             match.previous != 0 && i < set.meter_plan.rules[match.rule].limits; ++i) {
            written.checks[match.first + i].previous =
                written.matches[match.previous - 1].first + i + 1;
        }
    }
}

[[gnu::noinline]] PacketChecks checks_of_units(Burst& burst, std::size_t row,
                                               const LoadedSet& set) noexcept {
    BurstUnits& units = *burst.units();
    Written written{units.matches.get(), units.checks.get()};
    const std::size_t count = units.count(row);
    for (std::size_t number = 0; number < count; ++number) {
        const BurstUnits::Place at = units.place_of(burst, row, number);
        const BurstUnits::Unit& unit = units.unit(row, number);
        EvaluatedUnit& evaluated = units.evaluated[number];
        const std::uint32_t matches_before = unit.is_other_reading
                                                 ? units.evaluated[number - 1].matches_before
                                                 : written.match_count;
        const std::uint32_t checks_before =
            unit.is_other_reading ? units.evaluated[number - 1].checks_before : written.check_count;
        const std::span<Match> matches = Gathering{*at.burst, at.row, set, written}.run();
        evaluated = {at.burst,
                     at.row,
                     unit.kind,
                     matches_before,
                     checks_before,
                     matches,
                     units.decision(row, number)};
        link(matches, set, written, units);
    }
    for (const Match& match : std::span{written.matches, written.match_count}) {
        units.latest_match[match.rule] = 0;
    }
    return {std::span{units.evaluated}.first(count), written.matches, written.checks};
}

}  // namespace

PacketChecks collect_checks(Burst& burst, std::size_t row, const LoadedSet& set) noexcept {
    if (has_row(burst.several(), row)) [[unlikely]] {
        return checks_of_units(burst, row, set);
    }
    Scratch& scratch = burst.scratch();
    Written written{scratch.packet_matches.get(), scratch.packet_checks.get()};
    const std::span<Match> matches = Gathering{burst, row, set, written}.run();
    scratch.packet_unit = {&burst, row, Per::Packet, 0, 0, matches, burst.packets()[row].decision};
    return {{&scratch.packet_unit, 1}, written.matches, written.checks};
}

}  // namespace sluice
