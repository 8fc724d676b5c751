#include "lib/policy/services/stance_text.hpp"

#include "lib/packet/field.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sluice {
namespace {

constexpr std::string_view kWalkedAround =
    "can be walked around by clients that mean to; declare a service";

std::string listed(const std::vector<std::string>& services) {
    return (services.size() == 1 ? "service " : "services ") +
           fmt::format("{}", fmt::join(services, ", "));
}

std::string beyond_text(const RuleAnywhere& rule) {
    return fmt::format("{} (beyond {}{}{})", rule.id, listed(rule.services),
                       rule.beyond.empty() ? "" : " by ", fmt::join(rule.beyond, " and "));
}

}  // namespace

std::string text_of(const Stance& stance) {
    switch (stance.kind) {
        case Stance::Kind::Service:
            return listed(stance.services);
        case Stance::Kind::Partly:
            return listed(stance.services) + "; the rest anywhere: " + std::string{kWalkedAround};
        case Stance::Kind::Anywhere:
            return "anywhere: " + std::string{kWalkedAround};
        case Stance::Kind::Unknown:
            return "not known without its lists";
        case Stance::Kind::Nothing:
            return stance.services.empty()
                       ? "nothing: its protocols exclude one another"
                       : "nothing: " + listed(stance.services) +
                             (stance.services.size() == 1 ? " of another protocol has its packets"
                                                          : " of other protocols have its packets");
        default:
            return "";
    }
}

std::vector<RuleAnywhere> rules_anywhere(const std::vector<RuleSummary>& rules) {
    std::vector<RuleAnywhere> weak;
    for (const RuleSummary& rule : rules) {
        const bool is_weak =
            rule.stance.kind == Stance::Kind::Partly || rule.stance.kind == Stance::Kind::Anywhere;
        if (is_weak && rule.mode == Mode::Enforce && rule.kind == RuleKind::Rule) {
            RuleAnywhere& one = weak.emplace_back(RuleAnywhere{rule.id, rule.stance.services});
            for (const Field field : rule.stance.beyond) {
                one.beyond.emplace_back(row_of(field).name);
            }
        }
    }
    return weak;
}

std::string over_none_text(const std::vector<RuleAnywhere>& rules) {
    std::string text;
    for (const RuleAnywhere& rule : rules) {
        text += rule.services.empty() ? (text.empty() ? "" : ", ") + rule.id : "";
    }
    return text;
}

std::string beyond_text(const std::vector<RuleAnywhere>& rules) {
    std::string text;
    for (const RuleAnywhere& rule : rules) {
        text += rule.services.empty() ? "" : (text.empty() ? "" : ", ") + beyond_text(rule);
    }
    return text;
}

}  // namespace sluice
