#pragma once
#include "lib/policy/clauses/clause.hpp"

#include <optional>
#include <vector>

namespace sluice {

// Finds the rules that may share packets with a rule, judged by one field: the one by whose values
// most rules can be separated. This replaces comparing each rule with each.
class ClauseNeighbours {
public:
    // The clauses of each rule; nullptr: not known, so it is a neighbour of all.
    ClauseNeighbours(const std::vector<const std::vector<Clause>*>& rules, const SetPool& pool);

    // In rising order; the rule itself is one of them.
    [[nodiscard]] std::vector<std::size_t> of(std::size_t rule) const;

private:
    // The values that all clauses of a rule lie between, numbers or IPv6 addresses.
    struct Span {
        Wide first = 0;
        Wide last = 0;
        bool v6 = false;
    };
    struct Listed {
        Span span;
        Wide furthest = 0;  // last value of this and of all before it
        std::size_t rule = 0;
    };

    [[nodiscard]] static std::optional<Span> span_of(const std::vector<Clause>& clauses,
                                                     Field field, const SetPool& pool);
    [[nodiscard]] static std::vector<std::optional<Span>> spans_of(
        const std::vector<const std::vector<Clause>*>& rules, Field field, const SetPool& pool);
    void list();

    std::vector<std::optional<Span>> spans_;  // of each rule in the field; nullopt: of any value
    std::vector<Listed> listed_;              // those that have one, IPv6 last
    std::vector<std::size_t> anywhere_;       // the others
};

}  // namespace sluice
