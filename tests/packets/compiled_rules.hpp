#pragma once
#include "lib/match/classifier.hpp"
#include "lib/packet/parse_columns.hpp"
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
    ScanCosts costs;
    if (const auto fault = patterns.compile(parts->texts, costs)) {
        std::cerr << fault->what << '\n';
        return std::nullopt;
    }
    return Classifier{*std::move(parts)};
}

// The rules that match each packet of a burst, in order; none in malformed ones.
inline std::vector<std::vector<std::uint32_t>> rules_of_burst(const Classifier& classifier,
                                                              const FrameColumns& frames,
                                                              const HeaderColumns& columns) {
    static RuleMatches matches;  // of much memory: made once
    const auto scratch = TextScratch::make(classifier.texts());
    const RowMask valid = columns.well_formed();
    classifier.match_headers(columns, valid, matches);
    classifier.match_texts(frames, columns, valid, **scratch, matches);
    std::vector<std::vector<std::uint32_t>> rules(frames.size);
    for (const RuleMatch& one : matches.matched()) {
        for_each_row(one.rows, [&](std::size_t row) { rules[row].push_back(one.rule); });
    }
    return rules;
}

// The same for one packet, which came in as its headers have it.
inline std::vector<std::uint32_t> rules_for(const Classifier& classifier,
                                            const PacketHeaders& headers, ByteView frame,
                                            Tunnels tunnels = {}) {
    static HeaderColumns columns;
    FrameColumns frames;
    frames.add(frame, static_cast<std::uint32_t>(frame.size()));
    columns.set_ingress(0, headers.dir, headers.port);
    parse_columns(frames, {.tunnels = tunnels, .captured = true}, columns);
    columns.forget_units();
    if (headers.unit != nullptr) {
        columns.set_unit(0, *headers.unit);
    }
    return rules_of_burst(classifier, frames, columns).front();
}

// Whether one condition matches.
inline bool compiled_says(const Expression& tree, const PacketHeaders& headers, ByteView frame) {
    const std::optional<Classifier> classifier = compile_conditions(std::span{&tree, 1});
    return !rules_for(classifier.value(), headers, frame).empty();
}

}  // namespace sluice::test
