#include "lib/policy/rules/exceeding.hpp"

#include "lib/bucket/meter/any_limit.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace sluice {
namespace {

Exceeding exceeding_by(Verdict verdict) noexcept {
    return verdict == Verdict::Shape ? Exceeding::Either
           : forwards(verdict)       ? Exceeding::LetOn
                                     : Exceeding::KeptBack;
}

bool is_color_meter(const MeteredLimit& limit) noexcept {
    return algorithm_of(limit.limit) == Algorithm::ColorMeter;
}

}  // namespace

Exceeding exceeding_of(const Rule& rule, std::span<const Action> actions) {
    std::optional<Exceeding> all;
    const auto add = [&](ActionIndex action) {
        const Exceeding one = exceeding_by(actions[action].verdict);
        all = !all || *all == one ? one : Exceeding::Either;
    };
    switch (rule.on_match) {
        case OnMatch::Bypass:
            return Exceeding::LetOn;  // to the rules
        case OnMatch::Act:
            return exceeding_by(actions[rule.match_action].verdict);
        default:
            break;
    }
    if (!std::ranges::all_of(rule.limits, is_color_meter)) {
        add(rule.on_exceed);
    }
    if (std::ranges::any_of(rule.limits, is_color_meter)) {
        add(rule.on_color[static_cast<std::size_t>(Color::Red)]);
    }
    if (!rule.ban.boxes.empty()) {
        add(rule.ban.action);
    }
    return all.value_or(Exceeding::KeptBack);
}

void note_exceeding(CompiledRules& compiled) {
    std::size_t next = 0;
    for (RuleSummary& rule : compiled.rules) {
        if (rule.mode != Mode::Off) {
            rule.exceeding = exceeding_of(compiled.set.rules[next++], compiled.set.actions);
        }
    }
}

}  // namespace sluice
