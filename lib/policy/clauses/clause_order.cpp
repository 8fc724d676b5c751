#include "lib/policy/clauses/clause_order.hpp"

#include "lib/match/classifier_parts.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace sluice {
namespace {

// How well a field separates clauses: the number of different sets.
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

// More than a quarter of all values: it separates hardly any packets.
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

// The narrow terms of a clause in some fields.
struct NarrowTerms {
    struct Bounds {
        Wide first = 0;
        Wide last = 0;
        bool v6 = false;

        [[nodiscard]] bool operator==(const Bounds&) const noexcept = default;
    };
    std::uint64_t fields = 0;    // one bit per field, in the order of their weight
    std::vector<Bounds> bounds;  // of those fields, in the same order

    [[nodiscard]] bool operator==(const NarrowTerms&) const noexcept = default;
    [[nodiscard]] bool operator<(const NarrowTerms& other) const noexcept {
        if (fields != other.fields) {
            return fields > other.fields;
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
        return false;
    }
};

// By what a clause is sorted.
struct Place {
    NarrowTerms heavy;
    NarrowTerms light;
    std::size_t from = 0;  // where it stood

    [[nodiscard]] bool operator<(const Place& other) const noexcept {
        if (!(heavy == other.heavy)) {
            return heavy < other.heavy;
        }
        return light == other.light ? from < other.from : light < other.light;
    }
};

NarrowTerms::Bounds bounds_of(const DomainSet& set) {
    if (!set.numbers.empty()) {
        return {set.numbers.front().first, set.numbers.back().last, false};
    }
    return set.v6.empty() ? NarrowTerms::Bounds{}
                          : NarrowTerms::Bounds{set.v6.front().first, set.v6.back().last, true};
}

// A field with a handful of sets: what is sorted by it first lies in as many places.
constexpr std::size_t kHandful = 16;

struct SortFields {
    std::vector<Field> by_weight;
    Weights weights{};

    [[nodiscard]] bool is_heavy(Field field) const noexcept {
        return weights[static_cast<std::size_t>(field)] > kHandful;
    }
};

Place place_of(const Clause& clause, const SortFields& fields, const SetPool& pool) {
    Place place;
    for (std::size_t i = 0; i < fields.by_weight.size(); ++i) {
        const Field field = fields.by_weight[i];
        const auto term = std::find_if(clause.fields.begin(), clause.fields.end(),
                                       [&](const ClauseTerm& t) { return t.field == field; });
        if (term != clause.fields.end() && !is_broad(field, pool[term->set])) {
            NarrowTerms& terms = fields.is_heavy(field) ? place.heavy : place.light;
            terms.fields |= std::uint64_t{1} << (63 - i);
            terms.bounds.push_back(bounds_of(pool[term->set]));
        }
    }
    return place;
}

std::vector<Field> fields_by_weight(const Weights& weights) {
    std::vector<Field> fields;
    fields.reserve(kFieldCount);
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

// Ends the last block with clauses that are empty, in the places of as many different rules: what
// the compiled conditions take is told by rule. There is more than a block.
void fill_block(std::vector<RuleClause>& clauses) {
    while (clauses.size() % kBlockBits != 0) {
        clauses.push_back({clauses[clauses.size() - kBlockBits].rule, {}});
    }
}

}  // namespace

void sort_for_summary(std::vector<RuleClause>& clauses, const SetPool& pool) {
    SortFields fields{.by_weight = {}, .weights = weights_of(clauses)};
    fields.by_weight = fields_by_weight(fields.weights);
    std::vector<Place> places;
    places.reserve(clauses.size());
    for (std::size_t i = 0; i < clauses.size(); ++i) {
        places.push_back(place_of(clauses[i].clause, fields, pool));
        places.back().from = i;
    }
    std::sort(places.begin(), places.end());
    std::vector<RuleClause> sorted;
    sorted.reserve(clauses.size());
    std::size_t alike = 0;  // over the same fields, up to here
    for (std::size_t i = 0; i < places.size(); ++i) {
        const bool like_before = i > 0 && places[i].heavy.fields == places[i - 1].heavy.fields;
        const bool fits = sorted.size() + places.size() - i + kBlockBits <= kMaxClauses;
        if (!like_before && alike >= kBlockBits && places[i - 1].heavy.fields != 0 && fits) {
            fill_block(sorted);
        }
        alike = like_before ? alike + 1 : 1;
        sorted.push_back(std::move(clauses[places[i].from]));
    }
    clauses = std::move(sorted);
}

}  // namespace sluice
