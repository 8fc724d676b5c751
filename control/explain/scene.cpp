#include "control/explain/scene.hpp"

#include "lib/bucket/meter/distinct_values.hpp"
#include "lib/engine/burst/burst_units.hpp"
#include "lib/engine/check/check_limit.hpp"
#include "lib/policy/values/named_value.hpp"
#include "lib/rules/group.hpp"
#include "lib/rules/text_part.hpp"
#include "lib/rules/units_of.hpp"

#include <algorithm>
#include <vector>

namespace sluice {

KeyOverride override_of(const LimitOfRule& asked, const Scene& scene) {
    const RuleKeys keys{asked.rule, scene.headers, scene.frame, scene.core.hash};
    return {keys, asked.limit.key, scene.now};
}

OwnNumbers own_numbers(const LimitOfRule& asked, const Scene& scene) {
    if (algorithm_of(asked.limit.limit) == Algorithm::Penalty) {
        return {};
    }
    const auto index = static_cast<std::size_t>(&asked.limit - asked.rule.limits.data());
    return override_of(asked, scene).own_numbers(index);
}

namespace {

// The value that the packet shows; 0: it has none, or the limit asks for none.
std::uint32_t value_of(const LimitOfRule& asked, const Scene& scene) {
    KeyBytes value;
    const bool has_value =
        needs_value(asked.limit.limit) && key_of(asked.limit.of, MissingKey::Skip, scene.headers,
                                                 scene.frame, value) != KeyOutcome::Missing;
    return has_value ? ShownValue::of(scene.core.hash.digest(value.view())).bits : 0;
}

}  // namespace

Units cost_of(const LimitOfRule& asked, const Scene& scene) {
    const Per per = asked.limit.per;
    if (needs_value(asked.limit.limit) && value_of(asked, scene) == 0) {
        return Units{0};
    }
    if (is_of_packet(per)) {
        return cost_of(asked.rule, per, scene.headers);
    }
    if (!has_row(scene.burst.rows_of_kind(per), 0)) {
        return Units{0};
    }
    return Units{
        asked.rule.costs_by_path == nullptr || per != Per::Request
            ? asked.rule.cost
            : asked.rule.costs_by_path->cost_of(
                  read_text(TextField::HttpPath, scene.headers, scene.frame).value_or(ByteView{}))};
}

namespace {

// The number of the unit whose texts the headers have.
std::size_t unit_of(const Scene& scene) {
    const BurstUnits* const units = scene.burst.units();
    for (std::size_t unit = 0; units != nullptr && unit < units->count(0); ++unit) {
        if (&units->unit(0, unit).texts == scene.headers.unit) {
            return unit;
        }
    }
    return 0;
}

// The finding about the rule and the scene's unit whose `index` is that of the limit or key.
template <typename Found>
const Found* found_in(const std::vector<Found>& all, std::uint8_t Found::* index,
                      std::size_t wanted, const LimitOfRule& asked, const Scene& scene) {
    const auto rule = static_cast<std::size_t>(&asked.rule - scene.rules.loaded.set().rules.data());
    const auto found = std::ranges::find_if(all, [&, unit = unit_of(scene)](const Found& one) {
        return one.rule == rule && one.*index == wanted && one.unit == unit;
    });
    return found == all.end() ? nullptr : &*found;
}

std::optional<Nanoseconds> known(std::int64_t wait) {
    return Nanoseconds{wait} == kNever ? std::nullopt : std::optional{Nanoseconds{wait}};
}

// A bucket as the worker of the box has it, if it has one.
void take_told(const LimitOfRule& asked, const Scene& scene, BucketView& view) {
    if (algorithm_of(asked.limit.limit) == Algorithm::Penalty) {
        const FoundBan* const ban =
            found_in(scene.box->bans, &FoundBan::key, asked.limit.key, asked, scene);
        if (ban != nullptr) {
            const std::uint64_t left = ban->after - std::min(ban->refusals, ban->after);
            view = {.fresh = false,
                    .remaining = Units{ban->left_ns == 0 ? left : 0},
                    .wait = known(ban->left_ns)};
        }
        return;
    }
    const FoundLimit* const limit = told_of(asked, scene);
    if (limit != nullptr && (limit->has_bucket || limit->aggregation_level != 0)) {
        view = {
            .fresh = false, .remaining = Units{limit->remaining}, .wait = known(limit->wait_ns)};
    }
}

}  // namespace

const FoundLimit* told_of(const LimitOfRule& asked, const Scene& scene) {
    const auto index = static_cast<std::size_t>(&asked.limit - asked.rule.limits.data());
    return scene.box == nullptr
               ? nullptr
               : found_in(scene.box->limits, &FoundLimit::limit, index, asked, scene);
}

Decision decision_of(const DecisionState& told) {
    return {.verdict = told.verdict,
            .reason = told.reason,
            .limit = told.limit,
            .action = told.action,
            .rule = told.rule,
            .wait = Nanoseconds{told.wait_ns}};
}

std::optional<BucketView> view(const LimitOfRule& asked, const Scene& scene) {
    KeyBytes key;
    if (key_of(asked.parts(), asked.rule.missing_key, scene.headers, scene.frame, key) ==
        KeyOutcome::Missing) {
        return std::nullopt;
    }
    const Units cost = cost_of(asked, scene);
    std::optional<BucketView> view =
        view_bucket(scene.core, {.limit = asked.limit,
                                 .own = own_numbers(asked, scene),
                                 .key = key.view(),
                                 .demand = {.cost = cost,
                                            .color = color_of(scene.headers.dscp),
                                            .value = value_of(asked, scene)},
                                 .now = scene.now});
    if (scene.box != nullptr && view) {
        take_told(asked, scene, *view);
    }
    return view;
}

Scene of_headers(const Scene& scene, const PacketHeaders& headers) {
    return {scene.rules, scene.pair, scene.burst, headers,
            scene.frame, scene.core, scene.now,   scene.box};
}

NamedTexts texts_of(const UnitTexts* unit, const TextNames& names) {
    NamedTexts texts;
    for (const TextField field : kAllTextFields) {
        if (is_of_unit(field) && field != kClientHeader && unit != nullptr && unit->has(field)) {
            texts.emplace_back(name_of(field, names),
                               text_of_value(row_of(field), unit->text(field), false));
        }
    }
    return texts;
}

}  // namespace sluice
