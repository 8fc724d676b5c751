#include "lib/policy/rules/lone_condition.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

constexpr const char* kConditionName = "condition";
// A literal block takes the condition as it stands: no character of it can end it.
constexpr std::string_view kBeforeCondition =
    "version: 1\n"
    "rules:\n"
    "  - id: trace\n"
    "    mode: monitor\n"
    "    on_match: allow\n"
    "    when: |-\n"
    "      ";
constexpr std::uint32_t kConditionLine = 7;
constexpr std::uint32_t kConditionColumn = 6;  // of what stands before it

// Turns places of the compiled text into the condition's. A problem elsewhere is about all of it.
void move_places(std::vector<Problem>& problems, std::size_t skipped) {
    for (Problem& problem : problems) {
        const bool inside =
            problem.at.line == kConditionLine && problem.at.column > kConditionColumn;
        problem.at = inside ? Position{1, problem.at.column - kConditionColumn +
                                              static_cast<std::uint32_t>(skipped)}
                            : Position{1, 1};
    }
}

LoneCondition refused_condition(std::string why) {
    return {std::nullopt, {{kConditionName, {1, 1}, Severity::Error, std::move(why)}}};
}

}  // namespace

LoneCondition compile_lone_condition(const std::string& when, const RssMapping& box,
                                     PatternCache* patterns, const std::stop_token& stop) {
    std::string text = when;
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
    const std::size_t skipped = text.find_first_not_of(' ');
    if (skipped == std::string::npos) {
        return refused_condition("there is no condition in it");
    }
    text = std::string{kBeforeCondition} + text.substr(skipped) + "\n";
    Problems problems{kConditionName, stop};
    std::optional<CompiledRules> compiled =
        compile_rules({.file = kConditionName, .text = text, .patterns = patterns, .box = &box},
                      Purpose::Enforce, {}, problems);
    LoneCondition made{std::nullopt, problems.list()};
    move_places(made.problems, skipped);
    if (!compiled) {
        return made;
    }
    if (!compiled->set.named_texts.empty()) {
        return refused_condition(
            "headers, cookies and functions of texts, such as " +
            spelled(compiled->set.named_texts.front()) +
            ", can be read by rules alone; a trace shows the rules that match instead");
    }
    made.rules = std::move(compiled->set);
    return made;
}

}  // namespace sluice
