#include "lib/policy/placement/box_scopes.hpp"

#include "lib/policy/limits/merging.hpp"
#include "lib/policy/placement/cluster_limits.hpp"
#include "lib/policy/placement/common_parts.hpp"
#include "lib/policy/placement/limit_scope.hpp"
#include "lib/policy/placement/owner_groups.hpp"

#include <algorithm>
#include <span>
#include <string>

namespace sluice {
namespace {

bool reads_units(const Expression& tree) {
    if (tree.kind == Expression::Kind::Text) {
        return is_of_unit(tree.text.field);
    }
    return std::any_of(tree.parts.begin(), tree.parts.end(),
                       [](const Expression& part) { return reads_units(part); });
}

bool reads_units(const ScopedRule& rule) {
    const auto part_reads = [](const KeyPart& part) { return part.text && is_of_unit(*part.text); };
    const auto key_reads = [&](const GroupingKey& key) {
        return std::any_of(key.begin(), key.end(), part_reads);
    };
    const auto counts = [&](const ScopedLimit& limit) {
        return limit.limit != nullptr &&
               (!is_of_packet(limit.limit->per) || key_reads(limit.limit->of));
    };
    const bool asks_clients = rule.rule != nullptr && rule.rule->asks_clients;
    return asks_clients || reads_units(rule.summary.condition) ||
           std::any_of(rule.summary.keys.begin(), rule.summary.keys.end(), key_reads) ||
           std::any_of(rule.limits.begin(), rule.limits.end(), counts);
}

class BoxScopes {
public:
    BoxScopes(CompiledRules& compiled, const RssMapping& box) : compiled_{compiled}, box_{box} {}

    void run(const std::vector<PlacedRule>& placed, const SetPool& pool) {
        list(placed);
        for (ScopedRule& rule : rules_) {
            for (ScopedLimit& limit : rule.limits) {
                decide_alone(rule, limit);
            }
        }
        OwnerGroups groups{rules_, pool};
        groups.ask();
        groups.spread();
        groups.write(compiled_.set);
        for (ScopedRule& rule : rules_) {
            note(rule);
        }
    }

private:
    // Every rule with limits, also those that are off.
    void list(const std::vector<PlacedRule>& placed) {
        std::vector<const PlacedRule*> on(compiled_.rules.size());
        for (const PlacedRule& place : placed) {
            on[place.summary] = &place;
        }
        for (std::size_t i = 0; i < compiled_.rules.size(); ++i) {
            RuleSummary& summary = compiled_.rules[i];
            const PlacedRule* place = on[i];
            const bool never = place != nullptr && place->clauses.empty() && !summary.sees_all;
            Rule* rule =
                place == nullptr || never
                    ? nullptr
                    : &compiled_.set.rules[static_cast<std::size_t>(place - placed.data())];
            const bool known = rule != nullptr && !place->clauses.empty();
            rules_.push_back({.summary = summary,
                              .rule = rule,
                              .clauses = known ? &place->clauses : nullptr,
                              .limits = {}});
            list_limits(rules_.back());
            rules_.back().reads_units = reads_units(rules_.back());
        }
    }

    static void list_limits(ScopedRule& rule) {
        for (LimitSummary& summary : rule.summary.limits) {
            MeteredLimit* limit = nullptr;
            if (rule.rule != nullptr) {
                std::vector<MeteredLimit>& all = rule.rule->limits;
                const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) {
                    return one.name == summary.name && one.key == summary.tier;
                });
                limit = found == all.end() ? nullptr : &*found;
            }
            rule.limits.push_back({.summary = summary, .limit = limit});
        }
    }

    [[nodiscard]] bool shapes(const ScopedRule& rule) const {
        return rule.rule != nullptr &&
               compiled_.set.actions[rule.rule->on_exceed].verdict == Verdict::Shape;
    }

    // Where boxes share a limit as well, its workers go less far ahead.
    void ask_workers(const ScopedRule& rule, ScopedLimit& limit) const {
        const SharedNumbers& numbers = *limit.summary.numbers;
        SharingTerms terms = terms_for(numbers, box_);
        if (limit.summary.cluster && terms.sharing == Sharing::Merged) {
            const ClusterTerms all = cluster_terms_for(numbers, box_, LimitScope::Merged);
            terms.sharing =
                all.sharing == ClusterSharing::Merged ? Sharing::Merged : Sharing::AtOwner;
            terms.why = all.why;
        }
        limit.can_merge = terms.sharing == Sharing::Merged && !shapes(rule);
        limit.why = shapes(rule) ? "its packets depart in one order" : terms.why;
    }

    void decide_alone(const ScopedRule& rule, ScopedLimit& limit) const {
        const RuleSummary& summary = rule.summary;
        const bool known = limit.summary.tier < summary.keys.size();
        const ScopeQuestion asked{
            .condition = summary.sees_all ? nullptr : &summary.condition,
            .key = known ? std::span<const KeyPart>{summary.keys[limit.summary.tier]}
                         : std::span<const KeyPart>{},
            .missing_key = summary.missing_key,
        };
        limit.why = "it is not built";
        if (limit.summary.numbers && box_.workers > 1) {
            ask_workers(rule, limit);
        }
        const bool local = box_.workers < 2 || is_local(asked, box_);
        limit.scope = local             ? LimitScope::Local
                      : limit.can_merge ? LimitScope::Merged
                                        : LimitScope::Owner;
        if (limit.limit != nullptr) {
            limit.limit->rss_mapping_at_ports = local ? rss_mapping_at_ports(asked, box_) : 0;
        }
    }

    // Writes all that was decided of one rule.
    void note(ScopedRule& rule) {
        const OwnerGroup* group = rule.rule == nullptr || rule.rule->owner_group == 0
                                      ? nullptr
                                      : &compiled_.set.owner_groups[rule.rule->owner_group - 1U];
        for (ScopedLimit& limit : rule.limits) {
            if (limit.limit != nullptr) {
                limit.limit->scope = limit.scope;
            }
            limit.summary.scope = kLimitScopeNames[static_cast<std::size_t>(limit.scope)];
            limit.summary.scope_note = note_of(rule, limit, group);
            note_cluster(limit.summary, box_, limit.scope, rule.summary.mode, shapes(rule));
        }
        if (group != nullptr && group->parts.empty()) {
            compiled_.one_worker_notes.push_back(
                rule.summary.id +
                ": one worker judges all of its packets, since its keys at owners, and those of "
                "rules that may judge the same packets, have nothing in common");
        }
    }

    [[nodiscard]] std::string note_of(const ScopedRule& rule, const ScopedLimit& limit,
                                      const OwnerGroup* group) const {
        if (limit.scope == LimitScope::Local || !limit.summary.numbers) {
            return "";
        }
        const std::string because = rule.handed_by == nullptr
                                        ? ""
                                        : "; not local, since packets are handed over for `" +
                                              rule.handed_by->summary.id + "`";
        if (limit.scope == LimitScope::Merged && limit.summary.cluster) {
            return because;
        }
        if (limit.scope == LimitScope::Merged) {
            return merged_note(*limit.summary.numbers, terms_for(*limit.summary.numbers, box_)) +
                   because;
        }
        if (limit.scope == LimitScope::Asked) {
            return ", the key's owner is asked: " + std::string{limit.why} + because;
        }
        const std::string owner =
            group == nullptr ? ""
            : group->parts.empty()
                ? " of all of its rule's packets"
                : " of their " + parts_text(group->parts, compiled_.set.named_texts);
        const std::string why = limit.can_merge ? "like others of its rule" : limit.why;
        return ", packets handed to the owner" + owner + ": " + why + because;
    }

    CompiledRules& compiled_;
    const RssMapping& box_;
    std::vector<ScopedRule> rules_;
};

}  // namespace

void decide_scopes(CompiledRules& compiled, const std::vector<PlacedRule>& placed,
                   const SetPool& pool, const RssMapping& box) {
    BoxScopes{compiled, box}.run(placed, pool);
}

}  // namespace sluice
