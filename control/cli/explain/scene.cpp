#include "control/cli/explain/scene.hpp"

#include "lib/engine/burst/burst_units.hpp"
#include "lib/engine/check/check_limit.hpp"
#include "lib/policy/values/named_value.hpp"
#include "lib/rules/group.hpp"
#include "lib/rules/text_part.hpp"
#include "lib/rules/units_of.hpp"

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

Units cost_of(const LimitOfRule& asked, const Scene& scene) {
    const Per per = asked.limit.per;
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

std::optional<BucketView> view(const LimitOfRule& asked, const Scene& scene) {
    KeyBytes key;
    if (key_of(asked.parts(), asked.rule.missing_key, scene.headers, scene.frame, key) ==
        KeyOutcome::Missing) {
        return std::nullopt;
    }
    const Units cost = cost_of(asked, scene);
    return view_bucket(scene.core, {.limit = asked.limit,
                                    .own = own_numbers(asked, scene),
                                    .key = key.view(),
                                    .demand = {cost, color_of(scene.headers.dscp)},
                                    .now = scene.now});
}

Scene of_headers(const Scene& scene, const PacketHeaders& headers) {
    return {scene.rules, scene.pair, scene.burst, headers, scene.frame, scene.core, scene.now};
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
