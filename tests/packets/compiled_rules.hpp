#pragma once
#include "lib/match/classifier.hpp"
#include "lib/policy/clauses/classifier_compiler.hpp"
#include "lib/policy/expression/expression.hpp"
#include "lib/policy/texts/pattern_compiler.hpp"

#include <cstdint>
#include <iostream>
#include <optional>
#include <span>
#include <vector>

namespace sluice::test {

// Conditions, the first of rule 0 and so on, in their compiled form. nullopt: one of them makes too
// many clauses, or they are too large, or a pattern is refused (standard error says why).
inline std::optional<Classifier> compile_conditions(std::span<const Expression> conditions) {
    SetPool sets;
    std::vector<RuleClause> all;
    for (std::uint32_t rule = 0; const Expression& condition : conditions) {
        std::optional<std::vector<Clause>> clauses = clauses_of(condition, sets);
        if (!clauses) {
            return std::nullopt;
        }
        for (Clause& clause : *clauses) {
            all.push_back({rule, std::move(clause)});
        }
        ++rule;
    }
    std::optional<ClassifierParts> parts = compile_clauses(std::move(all), sets);
    PatternCache patterns;
    if (!parts) {
        return std::nullopt;
    }
    if (const auto fault = patterns.compile(parts->texts)) {
        std::cerr << fault->what << '\n';
        return std::nullopt;
    }
    return Classifier{*std::move(parts)};
}

// The rules that match, in order.
inline std::vector<std::uint32_t> rules_for(const Classifier& classifier,
                                            const PacketHeaders& headers, ByteView frame) {
    const Subject subject{&headers, frame};
    static FoundRules found;  // of much memory: made once
    const auto scratch = TextScratch::make(classifier.texts());
    classifier.match(std::span{&subject, 1}, scratch->get(), found);
    return {found.of(0).begin(), found.of(0).end()};
}

// Whether one condition matches.
inline bool compiled_says(const Expression& tree, const PacketHeaders& headers, ByteView frame) {
    const std::optional<Classifier> classifier = compile_conditions(std::span{&tree, 1});
    return !rules_for(classifier.value(), headers, frame).empty();
}

}  // namespace sluice::test
