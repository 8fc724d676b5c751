#include "lib/policy/limits/limit_list_reader.hpp"

#include "lib/policy/limits/merging.hpp"
#include "lib/policy/limits/state_identity.hpp"

namespace sluice {
namespace {

std::uint64_t identity_of_limit(std::string_view rule, const std::string& name, const KeyText& key,
                                const LimitText& limit) {
    std::string schema;
    for (const NamedText& part : limit.schema) {
        schema += (schema.empty() ? "" : " ") + part.value;
    }
    return identity_of({.rule = rule,
                        .name = name,
                        .key = key.schema,
                        .schema = schema,
                        .per = name_of(limit.per)});
}

// Boxes that count together have windows of the same numbers. What was used under others means
// nothing then.
void number_by_utc(LimitText& limit) {
    auto* fixed = limit.numbers ? std::get_if<FixedWindowLimit>(&*limit.numbers) : nullptr;
    auto* sliding = limit.numbers ? std::get_if<SlidingWindowLimit>(&*limit.numbers) : nullptr;
    if (fixed != nullptr && fixed->phase == WindowPhase::PerKey) {
        fixed->clock = WindowClock::Utc;
    } else if (sliding != nullptr) {
        sliding->clock = WindowClock::Utc;
    } else {
        return;
    }
    limit.schema.push_back({"clock", "utc"});
}

// The scope of a limit by its own words, or by those of its rule. `at`: the limit's place.
ScopeText scope_of(const ScopeText& own, const LimitOwner& owner, Position at, Problems& problems) {
    ScopeText scope = owner.scope;
    if (own.scope) {
        scope.scope = own.scope;
        scope.scope_at = own.scope_at;
    }
    scope.owner_down = own.owner_down ? own.owner_down : scope.owner_down;
    scope.scope_at = scope.scope_at.line == 0 ? at : scope.scope_at;
    const bool is_shared = scope.scope == ClusterScope::Cluster;
    if (own.owner_down && !is_shared) {
        problems.error(own.owner_down_at, std::string{kOwnerDownAlone});
    }
    if (is_shared && owner.is_tenants) {
        problems.error(scope.scope_at,
                       "`scope: cluster` is not for tenants: all rules share the store's budget");
    }
    return scope;
}

void note_scope(const ScopeText& scope, LimitSummary& summary) {
    if (scope.scope != ClusterScope::Cluster) {
        return;
    }
    const OwnerDown down = scope.owner_down.value_or(OwnerDown::LocalShare);
    summary.cluster = {.owner_down = down, .at = scope.scope_at};
    summary.text += ", scope cluster";
    if (down != OwnerDown::LocalShare) {
        summary.text +=
            ", owner_down " + std::string{kOwnerDownNames[static_cast<std::size_t>(down)]};
    }
}

LimitSummary summary_of(const std::string& name, const LimitText& limit, const LimitTier& tier,
                        const LimitOwner& owner, const ScopeText& scope) {
    const KeyText& key = tier.key;
    const std::uint32_t cost = owner.cost;
    LimitSummary summary{
        .name = name,
        .key = key.text,
        .text = limit.text + " per " + std::string{name_of(limit.per)},
        .tier = tier.index,
        .scope = {},  // decide_scopes() writes it when all is read
        .bound = "",
        .scope_note = "",
        .numbers = std::nullopt,
        .schema = limit.schema,
    };
    summary.schema.insert(summary.schema.begin(), {"key", key.schema});
    summary.schema.push_back({"per", std::string{name_of(limit.per)}});
    const std::string times = (owner.by_path ? "up to " : "") + std::to_string(cost);
    summary.text += cost == 1 ? "" : ", cost " + times;
    if (limit.numbers) {
        summary.cost_note = cost == 1 ? "" : ", each counted " + times + " times";
        summary.bound = limit.bound + summary.cost_note;
        summary.promise = limit.promise;
        summary.numbers = shared_numbers(*limit.numbers, owner, limit.per);
        note_scope(scope, summary);
    }
    return summary;
}

std::string owner_text(const LimitTier& tier) {
    return tier.position.empty() ? "a rule" : "a tier";
}

}  // namespace

void LimitListReader::read(const MapReader& map, const LimitTier& tier, ReadLimits& limits) const {
    const YamlNode* list = map.find("limits");
    if (list != nullptr && !list->is_list()) {
        context_.problems.error(
            list->at, "`limits` of " + owner_text(tier) + " is a list of names or limits, found " +
                          kind_name(*list) +
                          (list->is_map() ? "; write `- ` in front of each limit" : ""));
        return;
    }
    if (list == nullptr || list->items.empty()) {
        context_.problems.error(list == nullptr ? map.node().at : list->at,
                                owner_text(tier) + " needs `limits`, a list of names or limits");
        return;
    }
    if (list->items.size() + limits.summaries.size() > kMaxLimitsPerRule) {
        context_.problems.error(
            list->at, "a rule has at most " + std::to_string(kMaxLimitsPerRule) + " limits");
        return;
    }
    std::size_t position = 0;
    for (const YamlNode& item : list->items) {
        ++position;
        const std::string name =
            item.is_scalar() ? item.text : tier.position + std::to_string(position);
        read_one(item, name, tier, limits);
    }
}

void LimitListReader::read_one(const YamlNode& item, const std::string& name, const LimitTier& tier,
                               ReadLimits& limits) const {
    const YamlNode* node = item.is_scalar() ? named_.find(item, context_) : &item;
    if (node == nullptr) {
        return;
    }
    std::optional<YamlNode> changed;
    if (owner_.changes != nullptr) {
        changed = owner_.changes->change(name, *node);
    }
    LimitText limit = read_limit(changed ? *changed : *node, owner_.per, context_);
    const ScopeText scope = scope_of(limit.scope, owner_, item.at, context_.problems);
    if (scope.scope == ClusterScope::Cluster) {
        number_by_utc(limit);
    }
    const std::uint64_t identity = identity_of_limit(owner_.rule, name, tier.key, limit);
    if (!limits.identities.insert(identity).second) {
        context_.problems.error(item.at, "the limit `" + name + "` is listed twice" +
                                             (tier.position.empty() ? "" : " with one key"));
        return;
    }
    limits.summaries.push_back(summary_of(name, limit, tier, owner_, scope));
    if (limit.numbers) {
        limits.limits.push_back({.identity = identity,
                                 .name = name,
                                 .key = tier.index,
                                 .per = limit.per,
                                 .limit = *limit.numbers,
                                 .of = limit.of,
                                 .max_unsynced = owner_.max_unsynced,
                                 .cluster_scope = scope.scope.value_or(ClusterScope::Box),
                                 .owner_down = scope.owner_down.value_or(OwnerDown::LocalShare)});
    }
}

}  // namespace sluice
