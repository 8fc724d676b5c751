#include "lib/policy/rules/action_effects.hpp"

#include <chrono>

namespace sluice {
namespace {

constexpr std::string_view kDropped = "dropped";
constexpr std::string_view kReset = "reset at both ends";
constexpr std::string_view kQuicRefused = "the connection is refused, later packets are dropped";

std::vector<ActionEffect> on_all(std::string does) {
    return {{"all", std::move(does)}};
}

std::string tagged(const TagValues& tag) {
    std::string text = "passes with";
    text += tag.dscp ? " DSCP " + std::to_string(*tag.dscp) : "";
    text += tag.dscp && tag.pcp ? " and" : "";
    text += tag.pcp ? " priority " + std::to_string(*tag.pcp) : "";
    return text;
}

std::string shape_words(const ShapeValues& shape) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(shape.max_delay);
    return "held until there is room, " + std::to_string(ms.count()) + " ms at most; beyond that " +
           (shape.overflow == Verdict::Pass ? "it passes" : std::string{kDropped});
}

std::string then_of(ActionIndex then, const RuleSet& set) {
    return std::string{set.actions[then].verdict == Verdict::Reset ? kReset : kDropped};
}

// An answer to every so many of a rule's refused queries.
std::string sometimes(std::string answer, const AnswerTerms& terms, const RuleSet& set) {
    const std::string then = then_of(terms.then, set);
    return terms.slip == 0 ? then
           : terms.slip == 1
               ? answer
               : answer + ", to one of " + std::to_string(terms.slip) + ", the rest " + then;
}

std::vector<ActionEffect> answer_effects(const Action& action, const RuleSet& set) {
    const AnswerTerms& terms = action.answer;
    if (terms.response == 0) {
        const std::string then = then_of(terms.then, set);
        return {{"dns", sometimes("told to ask again over TCP", terms, set)}, {"other", then}};
    }
    const std::string status = std::to_string(set.responses[terms.response - 1].status);
    const bool is_decoy = action.verdict == Verdict::Decoy;
    return {{"http", status + ", and the connection ends"},
            {"tls", std::string{terms.tls_alert ? "an alert, access_denied" : kReset}},
            {"quic", std::string{kQuicRefused}},
            {"dns", sometimes(is_decoy ? "an answer without records" : "REFUSED", terms, set)},
            {"other", std::string{kDropped}}};
}

}  // namespace

std::vector<ActionEffect> effects_of(ActionIndex index, const RuleSet& set) {
    const Action& action = set.actions[index];
    switch (action.verdict) {
        case Verdict::Pass:
            return on_all("passes");
        case Verdict::Tag:
            return on_all(tagged(action.tag));
        case Verdict::Shape:
            return on_all(shape_words(action.shape));
        case Verdict::Decoy:
        case Verdict::Reply:
            return answer_effects(action, set);
        case Verdict::Reset:
            return {{"http", std::string{kReset}},
                    {"tls", std::string{kReset}},
                    {"quic", std::string{kQuicRefused}},
                    {"other", "TCP is reset at both ends, the rest " + std::string{kDropped}}};
        case Verdict::Drop:
            break;
    }
    return on_all(std::string{kDropped});
}

}  // namespace sluice
