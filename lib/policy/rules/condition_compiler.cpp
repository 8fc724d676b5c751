#include "lib/policy/rules/condition_compiler.hpp"

#include "lib/policy/clauses/classifier_compiler.hpp"
#include "lib/policy/clauses/possible_packets.hpp"
#include "lib/policy/rules/rule_size.hpp"
#include "lib/policy/texts/text_terms.hpp"
#include "lib/policy/yaml/scalar_places.hpp"
#include "lib/rules/tenant_name.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {

std::string too_many_alternatives(const Expression& when) {
    const std::uint64_t count = count_when_multiplied_out(when);
    return "the condition makes " +
           (count == UINT64_MAX ? "more than 10^19" : std::to_string(count)) +
           " alternatives when it is written out, and at most " +
           std::to_string(kMaxClausesPerRule) +
           " can be held; split the rule, or name values of one field with `in {...}`";
}

namespace {

constexpr std::string_view kNever = "this rule can never match";

// A tenant's rule may have the condition of its tenant alone, which stands in no rule file.
Position place_of_when(const YamlNode& rule) {
    const YamlNode* when = value_of(rule, "when");
    return when == nullptr ? rule.at : when->at;
}

}  // namespace

void ConditionCompiler::report_impossible(Position at, const ReadRule& read,
                                          const std::vector<Clause>& clauses,
                                          const TextNames& names) {
    const std::optional<Expression> any = with_any_lists(read.when);
    SetPool pool;
    const std::optional<std::vector<Clause>> of_any =
        any ? clauses_of(*any, pool) : std::optional{clauses};
    if (!of_any) {
        return;
    }
    if (of_any->empty()) {
        const std::string_view tenant = tenant_of(read.rule.id);
        problems_.error(at, std::string{kNever} + ": no packet " +
                                (tenant.empty() ? ""
                                                : "that arrives for the networks of " +
                                                      std::string{tenant} + " ") +
                                "is all that it asks for");
    } else if (const auto why = find_contradiction(*of_any, any ? pool : sets_, names)) {
        problems_.error(at, std::string{kNever} + ": " + *why);
    } else if (clauses.empty()) {
        problems_.warning(at, std::string{kNever} + " as its lists stand");
    }
}

void ConditionCompiler::add(const YamlNode& node, const ReadRule& read,
                            const CompiledRules& compiled) {
    nodes_.push_back(&node);
    std::optional<std::vector<Clause>> clauses{{Clause{}}};
    if (!read.everything) {
        clauses = clauses_of(read.when, sets_);
    }
    if (!clauses) {
        problems_.error(place_of_when(node), too_many_alternatives(read.when));
        return;
    }
    if (!read.everything && read.when_is_whole) {
        report_impossible(place_of_when(node), read, *clauses, compiled.set.named_texts);
    }
    if (read.rule.mode == Mode::Off) {
        return;
    }
    const bool known = read.everything || read.when_is_whole;
    const YamlNode* id = value_of(node, "id");
    placed_.push_back({.at = id == nullptr ? node.at : id->at,
                       .summary = compiled.rules.size(),
                       .clauses = known ? *clauses : std::vector<Clause>{}});
    for (Clause& clause : *clauses) {
        clauses_.push_back(
            {static_cast<std::uint32_t>(compiled.set.rules.size()), std::move(clause)});
    }
}

void ConditionCompiler::compile(const YamlNode& rules, PatternCache* patterns,
                                CompiledRules& compiled) {
    if (clauses_.size() > kMaxClauses) {
        problems_.error(rules.at, "the conditions make " + std::to_string(clauses_.size()) +
                                      " alternatives together, and at most " +
                                      std::to_string(kMaxClauses) + " can be held");
        return;
    }
    std::optional<ClassifierParts> parts = compile_clauses(std::move(clauses_), sets_);
    if (!parts) {
        problems_.error(rules.at,
                        "the conditions are too large together: compiled, they "
                        "would take more than " +
                            std::to_string(kMaxCompiledSize >> 20) + " MiB");
        return;
    }
    if (const std::optional<std::string> excess = find_excess(parts->texts)) {
        problems_.error(rules.at, *excess);
        return;
    }
    PatternCache none;
    ScanCosts costs;
    const auto refusal = (patterns == nullptr ? none : *patterns).compile(parts->texts, costs);
    if (refusal) {
        problems_.error(place_of(rules, compiled, *refusal), refusal->what);
        return;
    }
    warn_of_costs(rules, costs, compiled.set.named_texts);
    // The fast form of the look-ups is made where packets are matched.
    compiled.set.classifier = Classifier{*std::move(parts), Lookups::Slim};
    share_classifier_memory(compiled);
}

void ConditionCompiler::warn_of_costs(const YamlNode& rules, const ScanCosts& costs,
                                      const TextNames& names) const {
    for (const TextField field : kAllTextFields) {
        const ScanCost& cost = costs[static_cast<std::size_t>(field)];
        if (const std::optional<std::string> warning = find_costly(field, cost, names)) {
            problems_.warning(rules.at, *warning);
        }
    }
}

// The place of the pattern that was refused, if it was one.
Position ConditionCompiler::place_of(const YamlNode& rules, const CompiledRules& compiled,
                                     const PatternRefusal& refusal) const {
    for (std::size_t i = 0; refusal.pattern && i < nodes_.size(); ++i) {
        const auto offset = sluice::place_of(*refusal.pattern, compiled.rules[i].condition);
        if (offset) {
            return ScalarPlaces{lines_, *value_of(*nodes_[i], "when")}[*offset];
        }
    }
    return rules.at;
}

}  // namespace sluice
