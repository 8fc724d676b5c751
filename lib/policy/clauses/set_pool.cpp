#include "lib/policy/clauses/set_pool.hpp"

#include <algorithm>

namespace sluice {

SetId SetPool::add(Field field, DomainSet set) {
    const std::size_t hash = hash_of(set) + static_cast<std::size_t>(field);
    const auto [first, last] = by_hash_.equal_range(hash);
    for (auto at = first; at != last; ++at) {
        const Kept& kept = sets_[at->second];
        if (kept.field == field && kept.set == set) {
            return at->second;
        }
    }
    const auto id = static_cast<SetId>(sets_.size());
    const bool everything = set == sluice::everything(field);
    sets_.push_back({field, everything, std::move(set)});
    by_hash_.emplace(hash, id);
    return id;
}

SetId SetPool::intersect(SetId a, SetId b) {
    if (a == b) {
        return a;
    }
    const auto [at, fresh] = intersections_.try_emplace(std::minmax(a, b));
    if (fresh) {
        at->second = add(sets_[a].field, intersection(sets_[a].set, sets_[b].set));
    }
    return at->second;
}

SetId SetPool::unite(SetId a, SetId b) {
    if (a == b) {
        return a;
    }
    const auto [at, fresh] = unions_.try_emplace(std::minmax(a, b));
    if (fresh) {
        at->second = add(sets_[a].field, sluice::unite(sets_[a].set, sets_[b].set));
    }
    return at->second;
}

}  // namespace sluice
