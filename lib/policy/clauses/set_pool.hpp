#pragma once
#include "lib/policy/clauses/domain_set.hpp"
#include "lib/policy/texts/text_pool.hpp"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace sluice {

using SetId = std::uint32_t;

// The sets, and the tests of texts, in the clauses of a rule file, each once: two sets of one field
// are equal if and only if their numbers are, and what was worked out of two is not worked out
// again.
class SetPool {
public:
    [[nodiscard]] SetId add(Field field, DomainSet set);
    [[nodiscard]] const DomainSet& operator[](SetId id) const noexcept { return sets_[id].set; }

    // Both sets are of one field.
    [[nodiscard]] SetId intersect(SetId a, SetId b);
    [[nodiscard]] SetId unite(SetId a, SetId b);
    [[nodiscard]] bool contains(SetId outer, SetId inner) {
        return intersect(outer, inner) == inner;
    }

    [[nodiscard]] bool is_everything(SetId id) const noexcept { return sets_[id].everything; }

    [[nodiscard]] TextPool& texts() noexcept { return texts_; }
    [[nodiscard]] const TextPool& texts() const noexcept { return texts_; }

private:
    struct Kept {
        Field field{};
        bool everything = false;
        DomainSet set;
    };
    using Pair = std::pair<SetId, SetId>;

    std::vector<Kept> sets_;
    std::unordered_multimap<std::size_t, SetId> by_hash_;
    std::map<Pair, SetId> intersections_;
    std::map<Pair, SetId> unions_;
    TextPool texts_;
};

}  // namespace sluice
