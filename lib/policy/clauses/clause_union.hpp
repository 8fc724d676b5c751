#pragma once
#include "lib/policy/clauses/clause.hpp"

#include <cstddef>
#include <vector>

namespace sluice {

// True if many clauses together contain a given one, though none of them does alone: what each
// takes away of it is cut off, until nothing is left.
class ClauseUnion {
public:
    explicit ClauseUnion(SetPool& pool) noexcept : pool_{pool} {}

    // True: every packet of `clause` is of one of `others`. False too when the budget of pieces is
    // used up. Others that test a text take nothing away.
    [[nodiscard]] bool contains(const Clause& clause, const std::vector<const Clause*>& others);

private:
    // The most of one question: each other clause leaves a piece for each of its fields.
    static constexpr std::size_t kMostPieces = 256;
    // Cuts of all questions, at most: a tenth of a second.
    static constexpr std::size_t kMostCuts = 200'000;

    void cut(Clause piece, const Clause& other, std::vector<Clause>& left);

    SetPool& pool_;
    std::size_t cuts_ = 0;
};

}  // namespace sluice
