#include "lib/policy/services/stance_text.hpp"

namespace sluice {
namespace {

constexpr std::string_view kWalkedAround =
    "can be walked around by clients that mean to; declare a service";

std::string listed(const std::vector<std::string>& services) {
    std::string text;
    for (const std::string& service : services) {
        text += (text.empty() ? "" : ", ") + service;
    }
    return (services.size() == 1 ? "service " : "services ") + text;
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

std::vector<std::string> rules_anywhere(const std::vector<RuleSummary>& rules) {
    std::vector<std::string> ids;
    for (const RuleSummary& rule : rules) {
        const bool is_weak =
            rule.stance.kind == Stance::Kind::Partly || rule.stance.kind == Stance::Kind::Anywhere;
        if (is_weak && rule.mode == Mode::Enforce && rule.kind == RuleKind::Rule) {
            ids.push_back(rule.id);
        }
    }
    return ids;
}

}  // namespace sluice
