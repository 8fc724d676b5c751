#include "control/explain/several_units.hpp"

#include "lib/engine/burst/burst_units.hpp"
#include "lib/policy/expression/match_trace.hpp"
#include "lib/policy/limits/limit_reader.hpp"
#include "lib/rules/group.hpp"
#include "lib/rules/units_of.hpp"

#include <algorithm>

namespace sluice {
namespace {

// Headers of the packet with the texts of one of its units.
PacketHeaders with_unit(const Scene& scene, std::size_t number) {
    PacketHeaders headers = scene.headers;
    headers.unit = &scene.burst.units()->unit(0, number).texts;
    return headers;
}

// The units of the packet, but for their other readings.
std::vector<std::size_t> first_readings(const Scene& scene) {
    const BurstUnits* const units = scene.burst.units();
    std::vector<std::size_t> numbers;
    for (std::size_t number = 0; units != nullptr && number < units->count(0); ++number) {
        if (!units->unit(0, number).is_other_reading) {
            numbers.push_back(number);
        }
    }
    return numbers;
}

std::string unit_key(const LimitOfRule& asked, const Scene& scene) {
    return key_text(asked.parts(), scene.headers, scene.frame, scene.pair);
}

// A rule that refused one of the readings of a unit, which begin at `first`.
struct Refusal {
    const LoadedRule& rule;
    const RuleSummary& summary;
    std::size_t first;
    std::size_t reading;
};

// The units before a refused one leave so much of `left`, under the key that this one has. Those
// that did not fit have been charged nothing, and the readings of one unit are charged together as
// much as the dearest of them.
std::uint64_t left_behind(const LimitOfRule& asked, const Refusal& refusal, const Scene& scene,
                          std::uint64_t left, const std::string& key) {
    const BurstUnits& units = *scene.burst.units();
    std::uint64_t of_unit = 0;
    for (std::size_t number = 0; number < refusal.first; ++number) {
        of_unit = units.unit(0, number).is_other_reading ? of_unit : 0;
        const PacketHeaders headers = with_unit(scene, number);
        const Scene seen = of_headers(scene, headers);
        const bool matches =
            refusal.summary.when.empty() ||
            examine(refusal.summary.condition, headers, scene.frame, scene.pair).holds;
        if (!matches || unit_key(asked, seen) != key) {
            continue;
        }
        const std::uint64_t cost = cost_of(asked, seen).count();
        const std::uint64_t more = cost - std::min(cost, of_unit);
        of_unit += more;
        left -= more <= left ? more : 0;
    }
    return left;
}

// Nothing of a packet that was refused has been charged, so that the buckets stand as they stood.
std::optional<UnitShortage> shortage_of(const Refusal& refusal, const Scene& scene) {
    const PacketHeaders headers = with_unit(scene, refusal.reading);
    const Scene seen = of_headers(scene, headers);
    for (const LoadedLimit& limit : refusal.rule.limits) {
        const LimitOfRule asked{refusal.rule, limit};
        const std::optional<BucketView> bucket = view(asked, seen);
        if (is_of_packet(limit.per) || !bucket) {
            continue;
        }
        const std::string key = unit_key(asked, seen);
        const std::uint64_t left =
            left_behind(asked, refusal, scene, bucket->remaining.count(), key);
        const std::uint64_t cost = cost_of(asked, seen).count();
        if (cost > left) {
            return UnitShortage{limit.name, key, left, cost};
        }
    }
    return std::nullopt;
}

const RuleSummary& summary_of(const ReplayRules& rules, std::uint32_t rule) {
    return *std::ranges::find_if(rules.summaries, [left = rule](const RuleSummary& one) mutable {
        return one.mode != Mode::Off && left-- == 0;
    });
}

// The decision about one unit alone.
Decision decision_of(const Scene& scene, std::size_t number) {
    if (scene.box == nullptr) {
        return scene.burst.units()->decision(0, number);
    }
    return decision_of(number < scene.box->units.size() ? scene.box->units[number]
                                                        : scene.box->decision);
}

// The unit itself, or the first of its other readings that a rule refused.
std::size_t refused_reading(const Scene& scene, std::size_t number) {
    const BurstUnits& units = *scene.burst.units();
    std::size_t reading = number;
    do {
        const Decision own = decision_of(scene, reading);
        if (!forwards(own.verdict) && own.rule != kNoRule) {
            return reading;
        }
        ++reading;
    } while (reading < units.count(0) && units.unit(0, reading).is_other_reading);
    return number;
}

}  // namespace

std::vector<UnitAccount> unit_accounts(const Scene& scene, const Burst& judged,
                                       const Decision& decision) {
    const std::vector<std::size_t> numbers = first_readings(scene);
    std::vector<UnitAccount> accounts;
    const bool is_dropped = !forwards(decision.verdict);
    const bool is_refused =
        is_dropped && decision.rule != kNoRule && judged.units() == scene.burst.units();
    for (std::size_t i = 0; numbers.size() > 1 && i < numbers.size(); ++i) {
        const BurstUnits& units = *scene.burst.units();
        const std::size_t reading = is_refused ? refused_reading(scene, numbers[i]) : numbers[i];
        const BurstUnits::Unit& unit = units.unit(0, reading);
        UnitAccount& account = accounts.emplace_back(
            UnitAccount{.kind = name_of(unit.kind),
                        .texts = texts_of(&unit.texts, scene.rules.loaded.rules().named_texts),
                        .is_known = is_refused || !is_dropped});
        const Decision own = is_refused ? decision_of(scene, reading) : decision;
        if (is_refused && !forwards(own.verdict) && own.rule != kNoRule) {
            const RuleSummary& summary = summary_of(scene.rules, own.rule);
            account.refused = own;
            account.rule = summary.id;
            // A banned key is short of nothing: no limit is asked.
            if (own.reason == Reason::OverLimit || own.reason == Reason::HoldFull) {
                account.shortage = shortage_of(
                    {scene.rules.loaded.set().rules[own.rule], summary, numbers[i], reading},
                    scene);
            }
        }
    }
    return accounts;
}

}  // namespace sluice
