#include "lib/policy/placement/owner_groups.hpp"

#include "lib/policy/clauses/clause_neighbours.hpp"
#include "lib/policy/placement/common_parts.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace sluice {
namespace {

// The parts of a key that its packets have alike: none if those that lack a part share a bucket.
GroupingKey told_by(const ScopedRule& rule, const ScopedLimit& limit) {
    return rule.summary.missing_key == MissingKey::Share ? GroupingKey{}
                                                         : rule.rule->keys[limit.limit->key];
}

struct Members {
    std::optional<GroupingKey> parts;
    std::uint64_t salt = UINT64_MAX;  // the least identity of its limits
    std::vector<ScopedRule*> rules;
};

void add(ScopedRule& rule, Members& group) {
    group.rules.push_back(&rule);
    for (const ScopedLimit& limit : rule.limits) {
        if (limit.scope == LimitScope::Owner && limit.limit != nullptr) {
            const GroupingKey key = told_by(rule, limit);
            group.parts = group.parts ? common_parts(*group.parts, key) : common_parts(key, key);
            group.salt = std::min(group.salt, limit.limit->identity);
        }
    }
}

// All packets of such a rule have one owner, by these parts: so does any key that contains them.
void take_along(ScopedRule& rule, const GroupingKey& parts) {
    for (ScopedLimit& limit : rule.limits) {
        if (limit.scope == LimitScope::Merged && limit.limit != nullptr &&
            common_parts(parts, told_by(rule, limit)) == parts) {
            limit.scope = LimitScope::Owner;
        }
    }
}

}  // namespace

bool ScopedRule::has(LimitScope scope) const noexcept {
    return std::any_of(limits.begin(), limits.end(), [scope](const ScopedLimit& limit) {
        return limit.limit != nullptr && limit.scope == scope;
    });
}

bool OwnerGroups::may_meet(const ScopedRule& a, const ScopedRule& b) {
    return a.clauses == nullptr || b.clauses == nullptr ||
           overlap_.may_meet(*a.clauses, *b.clauses);
}

std::size_t OwnerGroups::root_of(std::size_t rule) {
    while (rules_[rule].group != rule) {
        rules_[rule].group = rules_[rules_[rule].group].group;
        rule = rules_[rule].group;
    }
    return rule;
}

void OwnerGroups::unite(std::size_t a, std::size_t b) {
    const auto [first, second] = std::minmax({root_of(a), root_of(b)});
    rules_[second].group = first;
}

// Packets of one rule that are handed over end the local scope of another that may judge them.
void OwnerGroups::meet(ScopedRule& handed, ScopedRule& other) {
    for (ScopedLimit& limit : other.limits) {
        if (limit.scope == LimitScope::Local) {
            limit.scope = limit.can_merge ? LimitScope::Merged
                          : other.stays   ? LimitScope::Asked
                                          : LimitScope::Owner;
            other.handed_by = &handed;
        }
    }
}

void OwnerGroups::ask() {
    const bool any = std::any_of(rules_.begin(), rules_.end(), [](const ScopedRule& rule) {
        return rule.rule != nullptr && rule.reads_units;
    });
    if (!any) {
        return;
    }
    const ClauseNeighbours neighbours{clauses_of_rules(), pool_};
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        const std::vector<std::size_t> others = neighbours.of(i);
        rules_[i].stays = rules_[i].rule != nullptr &&
                          std::any_of(others.begin(), others.end(), [&](std::size_t other) {
                              return rules_[other].rule != nullptr && rules_[other].reads_units &&
                                     (other == i || may_meet(rules_[i], rules_[other]));
                          });
        for (ScopedLimit& limit : rules_[i].limits) {
            const bool asks = rules_[i].stays && limit.scope == LimitScope::Owner;
            limit.scope = asks ? LimitScope::Asked : limit.scope;
        }
    }
}

std::vector<const std::vector<Clause>*> OwnerGroups::clauses_of_rules() const {
    std::vector<const std::vector<Clause>*> clauses;
    clauses.reserve(rules_.size());
    for (const ScopedRule& rule : rules_) {
        clauses.push_back(rule.clauses);
    }
    return clauses;
}

void OwnerGroups::spread() {
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        rules_[i].group = i;
        if (rules_[i].rule != nullptr && rules_[i].has(LimitScope::Owner)) {
            handed_.push_back(i);
        }
    }
    if (handed_.empty()) {
        return;
    }
    const ClauseNeighbours neighbours{clauses_of_rules(), pool_};
    // The list grows while it is gone through.
    for (std::size_t next = 0; next < handed_.size(); ++next) {
        spread_from(handed_[next], neighbours.of(handed_[next]));
    }
}

void OwnerGroups::spread_from(std::size_t handed, const std::vector<std::size_t>& others) {
    for (const std::size_t i : others) {
        ScopedRule& other = rules_[i];
        if (other.rule == nullptr) {
            continue;
        }
        const bool owned = other.has(LimitScope::Owner);
        const bool local = other.has(LimitScope::Local);
        const bool united = owned && root_of(i) == root_of(handed);
        if (!(local || (owned && !united)) || !may_meet(rules_[handed], other)) {
            continue;
        }
        meet(rules_[handed], other);
        if (other.has(LimitScope::Owner)) {
            unite(handed, i);
            if (!owned) {
                handed_.push_back(i);
            }
        }
    }
}

void OwnerGroups::write(RuleSet& set) {
    std::map<std::size_t, Members> groups;  // in the order of their first rules
    for (const std::size_t rule : handed_) {
        add(rules_[rule], groups[root_of(rule)]);
    }
    for (auto& [root, group] : groups) {
        const bool told = !group.parts->empty();
        set.owner_groups.push_back({*group.parts, told ? 0 : group.salt});
        for (ScopedRule* rule : group.rules) {
            rule->rule->owner_group = static_cast<std::uint16_t>(set.owner_groups.size());
            take_along(*rule, *group.parts);
        }
    }
}

}  // namespace sluice
