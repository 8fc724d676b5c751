#include "lib/policy/clauses/clause_order.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace sluice {
namespace {

// How much a field tells clauses apart: the different sets that are asked of it.
using Weights = std::array<std::size_t, kFieldCount>;

Weights weights_of(const std::vector<RuleClause>& clauses) {
    std::array<std::set<SetId>, kFieldCount> sets;
    for (const RuleClause& one : clauses) {
        for (const ClauseTerm& term : one.clause.fields) {
            sets[static_cast<std::size_t>(term.field)].insert(term.set);
        }
    }
    Weights weights{};
    for (std::size_t i = 0; i < kFieldCount; ++i) {
        weights[i] = sets[i].size();
    }
    return weights;
}

// More than a quarter of all values: hardly a packet is told apart by it.
bool is_broad(Field field, const DomainSet& set) {
    const bool address = row_of(field).kind == FieldKind::Address;
    const auto share_of = [](const std::vector<WideRange>& ranges, Wide max) {
        Wide quarter = 0;
        for (const WideRange& range : ranges) {
            quarter += (range.last - range.first) / 4;
        }
        return quarter > max / 16;
    };
    return share_of(set.numbers, largest(field)) || (address && share_of(set.v6, ~Wide{0}));
}

// By what a clause is sorted.
struct Place {
    std::uint64_t narrow = 0;  // one bit per field, in the order of their weight
    struct Bounds {
        Wide first = 0;
        Wide last = 0;
        bool v6 = false;

        [[nodiscard]] bool operator==(const Bounds&) const noexcept = default;
    };
    std::vector<Bounds> bounds;  // of the narrow fields, in the same order
    std::size_t from = 0;        // where it stood

    [[nodiscard]] bool operator<(const Place& other) const noexcept {
        if (narrow != other.narrow) {
            return narrow > other.narrow;
        }
        for (std::size_t i = 0; i < bounds.size(); ++i) {
            const Bounds& a = bounds[i];
            const Bounds& b = other.bounds[i];
            if (!(a == b)) {
                return a.v6 != b.v6         ? b.v6
                       : a.first != b.first ? a.first < b.first
                                            : a.last > b.last;  // the wider first
            }
        }
        return from < other.from;
    }
};

Place::Bounds bounds_of(const DomainSet& set) {
    if (!set.numbers.empty()) {
        return {set.numbers.front().first, set.numbers.back().last, false};
    }
    return set.v6.empty() ? Place::Bounds{}
                          : Place::Bounds{set.v6.front().first, set.v6.back().last, true};
}

Place place_of(const Clause& clause, const std::vector<Field>& by_weight, const SetPool& pool) {
    Place place;
    for (std::size_t i = 0; i < by_weight.size(); ++i) {
        const auto term =
            std::find_if(clause.fields.begin(), clause.fields.end(),
                         [&](const ClauseTerm& t) { return t.field == by_weight[i]; });
        if (term != clause.fields.end() && !is_broad(term->field, pool[term->set])) {
            place.narrow |= std::uint64_t{1} << (63 - i);
            place.bounds.push_back(bounds_of(pool[term->set]));
        }
    }
    return place;
}

std::vector<Field> fields_by_weight(const Weights& weights) {
    std::vector<Field> fields;
    for (const FieldRow& row : kFields) {
        fields.push_back(row.field);
    }
    const auto rank = [&](Field field) {
        const bool address = row_of(field).kind == FieldKind::Address;
        const std::size_t weight = weights[static_cast<std::size_t>(field)];
        return std::pair{address && weight != 0, weight};
    };
    std::stable_sort(fields.begin(), fields.end(),
                     [&](Field a, Field b) { return rank(a) > rank(b); });
    return fields;
}

}  // namespace

void sort_for_summary(std::vector<RuleClause>& clauses, const SetPool& pool) {
    const std::vector<Field> fields = fields_by_weight(weights_of(clauses));
    std::vector<Place> places;
    places.reserve(clauses.size());
    for (std::size_t i = 0; i < clauses.size(); ++i) {
        places.push_back(place_of(clauses[i].clause, fields, pool));
        places.back().from = i;
    }
    std::sort(places.begin(), places.end());
    std::vector<RuleClause> sorted;
    sorted.reserve(clauses.size());
    for (const Place& place : places) {
        sorted.push_back(std::move(clauses[place.from]));
    }
    clauses = std::move(sorted);
}

}  // namespace sluice
