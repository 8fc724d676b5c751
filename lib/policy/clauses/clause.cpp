#include "lib/policy/clauses/clause.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace sluice {
namespace {

// Pairs of clauses that are compared for one rule, at most: a second of work.
constexpr std::size_t kMaxComparisons = 8'000'000;

using Fields = std::vector<ClauseTerm>;
using Texts = std::vector<TextTerm>;

std::optional<Fields> meet(const Fields& a, const Fields& b, SetPool& pool) {
    Fields both;
    auto i = a.begin();
    auto j = b.begin();
    while (i != a.end() || j != b.end()) {
        if (j == b.end() || (i != a.end() && i->field < j->field)) {
            both.push_back(*i++);
        } else if (i == a.end() || j->field < i->field) {
            both.push_back(*j++);
        } else {
            const SetId set = pool.intersect(i->set, j->set);
            if (pool[set].empty()) {
                return std::nullopt;
            }
            both.push_back({i->field, set});
            ++i;
            ++j;
        }
    }
    return both;
}

// No test both holds and does not.
std::optional<Texts> meet(const Texts& a, const Texts& b) {
    Texts both;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    const auto same_test = [](const TextTerm& x, const TextTerm& y) { return x.test == y.test; };
    return std::adjacent_find(both.begin(), both.end(), same_test) == both.end()
               ? std::optional{std::move(both)}
               : std::nullopt;
}

// The intersection of both clauses; nullopt: it is empty.
std::optional<Clause> meet(const Clause& a, const Clause& b, SetPool& pool) {
    std::optional<Texts> texts = meet(a.texts, b.texts);
    std::optional<Fields> fields = texts ? meet(a.fields, b.fields, pool) : std::nullopt;
    return fields ? std::optional{Clause{*std::move(fields), *std::move(texts)}} : std::nullopt;
}

// True if every packet of `inner` is one of `outer`: each field of `outer` stands in `inner`, at
// least as strict.
bool contains(const Clause& outer, const Clause& inner, SetPool& pool) {
    if (!std::includes(inner.texts.begin(), inner.texts.end(), outer.texts.begin(),
                       outer.texts.end())) {
        return false;
    }
    auto i = inner.fields.begin();
    for (const ClauseTerm& term : outer.fields) {
        while (i != inner.fields.end() && i->field < term.field) {
            ++i;
        }
        if (i == inner.fields.end() || i->field != term.field || !pool.contains(term.set, i->set)) {
            return false;
        }
    }
    return true;
}

// One for two with the same tests that differ in whether one of them holds.
std::optional<Texts> merged(const Texts& a, const Texts& b) {
    if (a.size() != b.size()) {
        return std::nullopt;
    }
    const auto differ = std::mismatch(a.begin(), a.end(), b.begin());
    if (differ.first == a.end() || differ.first->test != differ.second->test ||
        !std::equal(differ.first + 1, a.end(), differ.second + 1)) {
        return std::nullopt;
    }
    Texts one = a;
    one.erase(one.begin() + (differ.first - a.begin()));
    return one;
}

std::optional<Fields> merged(const Fields& a, const Fields& b, SetPool& pool) {
    if (a.size() != b.size()) {
        return std::nullopt;
    }
    std::size_t differing = a.size();
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i].field != b[i].field || (a[i].set != b[i].set && differing != a.size())) {
            return std::nullopt;
        }
        differing = a[i].set != b[i].set ? i : differing;
    }
    Fields one = a;
    if (differing != a.size()) {
        const SetId set = pool.unite(a[differing].set, b[differing].set);
        one[differing].set = set;
        if (pool.is_everything(set)) {
            one.erase(one.begin() + static_cast<std::ptrdiff_t>(differing));
        }
    }
    return one;
}

// One clause for two with the same fields and tests that differ in at most one of them.
std::optional<Clause> merged(const Clause& a, const Clause& b, SetPool& pool) {
    if (a.texts == b.texts) {
        std::optional<Fields> fields = merged(a.fields, b.fields, pool);
        return fields ? std::optional{Clause{*std::move(fields), a.texts}} : std::nullopt;
    }
    std::optional<Texts> texts = a.fields == b.fields ? merged(a.texts, b.texts) : std::nullopt;
    return texts ? std::optional{Clause{a.fields, *std::move(texts)}} : std::nullopt;
}

class ClauseMaker {
public:
    explicit ClauseMaker(SetPool& pool) : pool_{pool} {}

    // With `inverted`, of `not tree`. Empty as well once there is too much: fits() is false then.
    std::vector<Clause> make(const Expression& tree, bool inverted) {
        if (!fits_) {
            return {};
        }
        switch (tree.kind) {
            case Expression::Kind::Leaf:
                return make_leaf(tree.leaf, inverted);
            case Expression::Kind::Text:
                return make_text(tree.text, inverted);
            case Expression::Kind::Not:
                return make(tree.parts.front(), !inverted);
            default:
                return (tree.kind == Expression::Kind::And) != inverted
                           ? make_product(tree, inverted)
                           : make_sum(tree, inverted);
        }
    }
    [[nodiscard]] bool fits() const noexcept { return fits_; }

private:
    std::vector<Clause> make_leaf(const Leaf& leaf, bool inverted) {
        const Field field = asked_field(leaf);
        const DomainSet set = set_of(leaf);
        const SetId id = pool_.add(field, inverted ? complement(field, set) : set);
        if (pool_[id].empty()) {
            return {};
        }
        return pool_.is_everything(id) ? std::vector<Clause>{{}}
                                       : std::vector<Clause>{Clause{{{field, id}}, {}}};
    }

    std::vector<Clause> make_text(const TextTest& test, bool inverted) {
        if (test.texts.empty()) {
            return inverted ? std::vector<Clause>{{}} : std::vector<Clause>{};
        }
        const TextTerm holds{pool_.texts().add(test), false};
        if (!test.negated) {
            return {Clause{{}, {{holds.test, inverted}}}};
        }
        // `ne`: it is there and the test does not hold; the opposite is that it is not there, or
        // that the test does.
        const TextTestId there = pool_.texts().presence_of(test.field);
        if (inverted) {
            return {Clause{{}, {{there, true}}}, Clause{{}, {holds}}};
        }
        Texts both{{there, false}, {holds.test, true}};
        std::sort(both.begin(), both.end());
        return {Clause{{}, std::move(both)}};
    }

    std::vector<Clause> make_sum(const Expression& tree, bool inverted) {
        std::vector<Clause> sum;
        for (const Expression& part : tree.parts) {
            for (Clause& clause : make(part, inverted)) {
                add(sum, std::move(clause));
            }
        }
        return sum;
    }

    std::vector<Clause> make_product(const Expression& tree, bool inverted) {
        std::vector<Clause> product{{}};
        for (const Expression& part : tree.parts) {
            const std::vector<Clause> factor = make(part, inverted);
            std::vector<Clause> next;
            for (const Clause& a : product) {
                add_meets(next, a, factor);
            }
            product = std::move(next);
        }
        return product;
    }

    void add_meets(std::vector<Clause>& clauses, const Clause& a,
                   const std::vector<Clause>& factor) {
        for (const Clause& b : factor) {
            std::optional<Clause> both = fits_ ? meet(a, b, pool_) : std::nullopt;
            if (both) {
                add(clauses, *std::move(both));
            }
        }
    }

    // Joins a clause to those that stand already, which are none of them another's part.
    void add(std::vector<Clause>& clauses, Clause clause) {
        for (std::size_t i = 0; i < clauses.size() && fits_;) {
            fits_ = ++comparisons_ <= kMaxComparisons;
            if (contains(clauses[i], clause, pool_)) {
                return;
            }
            std::optional<Clause> one = contains(clause, clauses[i], pool_)
                                            ? std::optional{clause}
                                            : merged(clauses[i], clause, pool_);
            if (!one) {
                ++i;
                continue;
            }
            // The joined clause may join those that it did not join before.
            clause = *std::move(one);
            clauses.erase(clauses.begin() + static_cast<std::ptrdiff_t>(i));
            i = 0;
        }
        fits_ = fits_ && clauses.size() < kMaxClausesPerRule;
        if (fits_) {
            clauses.push_back(std::move(clause));
        }
    }

    SetPool& pool_;
    std::size_t comparisons_ = 0;
    bool fits_ = true;
};

std::uint64_t multiplied_out(const Expression& tree, bool inverted) {
    if (tree.kind == Expression::Kind::Leaf) {
        return 1;
    }
    if (tree.kind == Expression::Kind::Text) {
        return tree.text.negated && inverted ? 2 : 1;
    }
    if (tree.kind == Expression::Kind::Not) {
        return multiplied_out(tree.parts.front(), !inverted);
    }
    const bool product = (tree.kind == Expression::Kind::And) != inverted;
    std::uint64_t count = product ? 1 : 0;
    for (const Expression& part : tree.parts) {
        const std::uint64_t of_part = multiplied_out(part, inverted);
        const bool over = product ? __builtin_mul_overflow(count, of_part, &count)
                                  : __builtin_add_overflow(count, of_part, &count);
        if (over) {
            return std::numeric_limits<std::uint64_t>::max();
        }
    }
    return count;
}

}  // namespace

std::optional<std::vector<Clause>> clauses_of(const Expression& tree, SetPool& pool) {
    ClauseMaker maker{pool};
    std::vector<Clause> clauses = maker.make(tree, false);
    if (!maker.fits()) {
        return std::nullopt;
    }
    return clauses;
}

std::uint64_t count_when_multiplied_out(const Expression& tree) {
    return multiplied_out(tree, false);
}

}  // namespace sluice
