#include "lib/policy/condition.hpp"

#include "lib/policy/value_set.hpp"

#include <algorithm>
#include <map>

namespace sluice {
namespace {

std::size_t count_leaves(const Expression& tree) {
    if (tree.kind == Expression::Kind::Leaf) {
        return 1;
    }
    std::size_t count = 0;
    for (const Expression& part : tree.parts) {
        count += count_leaves(part);
    }
    return count;
}

// Lays the tests out from the last to the first, so that every jump's target is known when the jump
// is written, and lies ahead once the order is turned round.
class Layout {
public:
    explicit Layout(std::size_t count) : tests_(count) {}

    // The place of the subtree's first test, which goes to `yes` or `no` in the end.
    std::uint16_t place(const Expression& tree, std::uint16_t yes, std::uint16_t no) {
        switch (tree.kind) {
            case Expression::Kind::Leaf:
                tests_[--next_] = {&tree.leaf, yes, no};
                return static_cast<std::uint16_t>(next_);
            case Expression::Kind::Not:
                return place(tree.parts.front(), no, yes);
            default:
                return place_chain(tree, yes, no);
        }
    }

    struct Placed {
        const Leaf* leaf = nullptr;
        std::uint16_t yes = kMatch;
        std::uint16_t no = kNoMatch;
    };
    [[nodiscard]] const std::vector<Placed>& tests() const noexcept { return tests_; }

private:
    std::uint16_t place_chain(const Expression& tree, std::uint16_t yes, std::uint16_t no) {
        const bool all = tree.kind == Expression::Kind::And;
        std::uint16_t after = all ? yes : no;  // where a part goes that does not decide
        for (auto part = tree.parts.rbegin(); part != tree.parts.rend(); ++part) {
            after = all ? place(*part, after, no) : place(*part, yes, after);
        }
        return after;
    }

    std::vector<Placed> tests_;
    std::size_t next_ = tests_.size();
};

Test test_of(const Layout::Placed& placed, Program& program) {
    const Leaf& leaf = *placed.leaf;
    Test test{.field = leaf.field, .negated = leaf.negated, .yes = placed.yes, .no = placed.no};
    if (row_of(leaf.field).kind == FieldKind::Address) {
        test.start = static_cast<std::uint32_t>(program.v4.size());
        test.count = static_cast<std::uint32_t>(leaf.v4.size());
        test.v6_start = static_cast<std::uint32_t>(program.v6.size());
        test.v6_count = static_cast<std::uint32_t>(leaf.v6.size());
        program.v4.insert(program.v4.end(), leaf.v4.begin(), leaf.v4.end());
        program.v6.insert(program.v6.end(), leaf.v6.begin(), leaf.v6.end());
        return test;
    }
    test.start = static_cast<std::uint32_t>(program.numbers.size());
    test.count = static_cast<std::uint32_t>(leaf.numbers.size());
    program.numbers.insert(program.numbers.end(), leaf.numbers.begin(), leaf.numbers.end());
    return test;
}

bool is_empty(const Leaf& leaf) {
    return !leaf.negated && leaf.numbers.empty() && leaf.v4.empty() && leaf.v6.empty();
}

// The leaves that must all hold, where `and` stands directly in `and`.
void collect_conjuncts(const Expression& tree, std::vector<const Leaf*>& leaves) {
    for (const Expression& part : tree.parts) {
        if (part.kind == Expression::Kind::Leaf && !part.leaf.negated) {
            leaves.push_back(&part.leaf);
        } else if (part.kind == Expression::Kind::And) {
            collect_conjuncts(part, leaves);
        }
    }
}

bool contradicts_itself(const Expression& tree) {
    std::vector<const Leaf*> leaves;
    collect_conjuncts(tree, leaves);
    std::map<Field, Leaf> common;
    for (const Leaf* leaf : leaves) {
        const auto [at, first] = common.try_emplace(leaf->field, *leaf);
        if (first) {
            continue;
        }
        at->second.numbers = intersection(at->second.numbers, leaf->numbers);
        at->second.v4 = intersection(at->second.v4, leaf->v4);
        at->second.v6 = intersection(at->second.v6, leaf->v6);
    }
    return std::any_of(common.begin(), common.end(),
                       [](const auto& entry) { return is_empty(entry.second); });
}

}  // namespace

std::optional<Condition> append_condition(const Expression& tree, Program& program) {
    const std::size_t count = count_leaves(tree);
    if (count > kMaxTestsPerRule) {
        return std::nullopt;
    }
    Layout layout{count};
    (void)layout.place(tree, kMatch, kNoMatch);
    const Condition condition{static_cast<std::uint32_t>(program.tests.size()),
                              static_cast<std::uint32_t>(count)};
    for (const Layout::Placed& placed : layout.tests()) {
        program.tests.push_back(test_of(placed, program));
    }
    return condition;
}

bool can_never_match(const Expression& tree) {
    switch (tree.kind) {
        case Expression::Kind::Leaf:
            return is_empty(tree.leaf);
        case Expression::Kind::Not:
            return false;
        case Expression::Kind::Or:
            return std::all_of(tree.parts.begin(), tree.parts.end(), can_never_match);
        default:
            return std::any_of(tree.parts.begin(), tree.parts.end(), can_never_match) ||
                   contradicts_itself(tree);
    }
}

}  // namespace sluice
