#include "lib/policy/clauses/clause_union.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

// The place of the field in a clause, or where it would stand.
std::vector<ClauseTerm>::iterator place_of(Clause& clause, Field field) {
    return std::lower_bound(clause.fields.begin(), clause.fields.end(), field,
                            [](const ClauseTerm& term, Field one) { return term.field < one; });
}

bool has_term(const Clause& clause, std::vector<ClauseTerm>::const_iterator at, Field field) {
    return at != clause.fields.end() && at->field == field;
}

void narrow(Clause& clause, Field field, SetId set) {
    const auto at = place_of(clause, field);
    if (has_term(clause, at, field)) {
        at->set = set;
    } else {
        clause.fields.insert(at, {field, set});
    }
}

}  // namespace

bool ClauseUnion::contains(const Clause& clause, const std::vector<const Clause*>& others) {
    std::vector<Clause> left{clause};
    for (const Clause* const other : others) {
        if (!other->texts.empty()) {
            continue;
        }
        std::vector<Clause> next;
        for (Clause& piece : left) {
            cut(std::move(piece), *other, next);
        }
        if (next.size() > kMostPieces || cuts_ > kMostCuts) {
            return false;
        }
        left = std::move(next);
        if (left.empty()) {
            return true;
        }
    }
    return left.empty();
}

// Pieces outside of the first field's set, then those in it and outside of the second's, and so
// on; what is in all of them is of the other clause.
void ClauseUnion::cut(Clause piece, const Clause& other, std::vector<Clause>& left) {
    ++cuts_;
    const std::size_t before = left.size();
    const Clause whole = piece;
    for (const ClauseTerm& term : other.fields) {
        const SetId outside = pool_.add(term.field, complement(term.field, pool_[term.set]));
        const auto at = place_of(piece, term.field);
        const bool has = has_term(piece, at, term.field);
        const SetId kept = has ? pool_.intersect(at->set, term.set) : term.set;
        const SetId rest = has ? pool_.intersect(at->set, outside) : outside;
        if (pool_[kept].empty()) {  // they have nothing in common
            left.resize(before);
            left.push_back(whole);
            return;
        }
        if (!pool_[rest].empty()) {
            left.push_back(piece);
            narrow(left.back(), term.field, rest);
        }
        narrow(piece, term.field, kept);
    }
}

}  // namespace sluice
