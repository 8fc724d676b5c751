#include "lib/wire/rule_set_codec.hpp"

#include "lib/rules/limit_numbers.hpp"
#include "lib/wire/classifier_codec.hpp"
#include "lib/wire/limit_codec.hpp"
#include "lib/wire/origin_codec.hpp"

namespace sluice {
namespace {

// The least bytes an item takes on the wire: bounds what a count can make us allocate.
constexpr std::size_t kKeyPartSize = 7;
constexpr std::size_t kKeySize = 4;
constexpr std::size_t kLimitSize = 48;
constexpr std::size_t kActionSize = 5;
constexpr std::size_t kRuleSize = 48;
constexpr std::size_t kGroupSize = 12;
constexpr std::size_t kOverrideRowSize = 8;
constexpr std::size_t kOverrideSize = 25;
constexpr std::size_t kPlanSize = 26;
constexpr std::size_t kOverriddenSize = 8;

void put_optional(Writer& out, std::optional<std::uint8_t> value) {
    out.number<std::uint8_t>(value.has_value() ? 1 : 0);
    out.number(value.value_or(0));
}

std::optional<std::uint8_t> get_optional(Reader& in) {
    const bool given = in.flag();
    const auto value = in.number<std::uint8_t>();
    if (!given && value != 0) {
        in.fail();  // one message has one encoding
    }
    return given ? std::optional{value} : std::nullopt;
}

void put_part(Writer& out, const KeyPart& part) {
    out.word(part.field);
    out.number(part.v4_length);
    out.number(part.v6_length);
    out.number(part.unwrapping.bits());
    out.number(part.text ? static_cast<std::uint8_t>(1 + static_cast<unsigned>(*part.text))
                         : std::uint8_t{0});
    out.number<std::uint8_t>(part.lower ? 1 : 0);
    out.number(part.room);
}

KeyPart get_part(Reader& in) {
    KeyPart part;
    part.field = in.word<Field>();
    part.v4_length = in.number<std::uint8_t>();
    part.v6_length = in.number<std::uint8_t>();
    part.unwrapping = Unwrapping{in.number<std::uint8_t>()};
    if (const auto text = in.number<std::uint8_t>(); text != 0) {
        part.text = static_cast<TextField>(text - 1);
    }
    part.lower = in.flag();
    part.room = in.number<std::uint8_t>();
    return part;
}

void put_key(Writer& out, const GroupingKey& key) {
    out.list(key, put_part);
}

GroupingKey get_key(Reader& in) {
    return in.list<KeyPart>(kKeyPartSize, get_part);
}

void put_metered(Writer& out, const MeteredLimit& limit) {
    out.number(limit.identity);
    out.text(limit.name);
    out.number(limit.key);
    out.word(limit.per);
    out.word(limit.scope);
    out.number(limit.spread_at_ports);
    out.number(limit.max_unsynced);
    put_numbers(out, limit.limit);
}

MeteredLimit get_metered(Reader& in) {
    const auto identity = in.number<std::uint64_t>();
    std::string name = in.text();
    const auto key = in.number<std::uint8_t>();
    const auto per = in.word<Per>();
    const auto scope = in.word<LimitScope>();
    const auto spread_at_ports = in.number<std::uint64_t>();
    const auto max_unsynced = in.number<std::uint64_t>();
    return {.identity = identity,
            .name = std::move(name),
            .key = key,
            .per = per,
            .limit = get_numbers(in),
            .scope = scope,
            .spread_at_ports = spread_at_ports,
            .max_unsynced = max_unsynced};
}

void put_tag(Writer& out, const TagValues& tag) {
    put_optional(out, tag.dscp);
    put_optional(out, tag.pcp);
}

TagValues get_tag(Reader& in) {
    const std::optional<std::uint8_t> dscp = get_optional(in);
    return {dscp, get_optional(in)};
}

void put_action(Writer& out, const Action& action) {
    out.word(action.verdict);
    put_tag(out, action.tag);
}

Action get_action(Reader& in) {
    const auto verdict = in.word<Verdict>();
    return {verdict, get_tag(in)};
}

void put_ban(Writer& out, const Ban& ban) {
    out.number(ban.action);
    out.list(ban.boxes, put_metered);
}

Ban get_ban(Reader& in) {
    const auto action = in.number<ActionIndex>();
    return {action, in.list<MeteredLimit>(kLimitSize, get_metered)};
}

void put_override(Writer& out, const LimitOverride& numbers) {
    out.number(numbers.limit);
    out.number<std::int64_t>(numbers.until.count());
    put_numbers(out, numbers.numbers);
}

LimitOverride get_override(Reader& in) {
    const auto limit = in.number<std::uint8_t>();
    const Nanoseconds until{in.number<std::int64_t>()};
    return {limit, until, get_numbers(in)};
}

void put_plan(Writer& out, const OverridePlan& plan) {
    out.number<std::uint8_t>(plan.exempt ? 1 : 0);
    out.number<std::int64_t>(plan.exempt_until.count());
    out.number<std::uint8_t>(plan.banned ? 1 : 0);
    out.number<std::int64_t>(plan.banned_until.count());
    out.number(plan.first);
    out.number(plan.count);
}

OverridePlan get_plan(Reader& in) {
    OverridePlan plan;
    plan.exempt = in.flag();
    plan.exempt_until = Nanoseconds{in.number<std::int64_t>()};
    plan.banned = in.flag();
    plan.banned_until = Nanoseconds{in.number<std::int64_t>()};
    plan.first = in.number<std::uint32_t>();
    plan.count = in.number<std::uint32_t>();
    return plan;
}

void put_overridden(Writer& out, const KeyOverrides& keys) {
    out.bytes(keys.bytes);
    out.list(keys.rows, [](Writer& o, const KeyOverrides::Row& row) {
        o.number(row.end);
        o.number(row.plan);
    });
}

KeyOverrides get_overridden(Reader& in) {
    KeyOverrides keys;
    keys.bytes = in.bytes();
    keys.rows = in.list<KeyOverrides::Row>(kOverrideRowSize, [](Reader& i) {
        const auto end = i.number<std::uint32_t>();
        return KeyOverrides::Row{end, i.number<std::uint32_t>()};
    });
    return keys;
}

void put_overrides(Writer& out, const Overrides* overrides) {
    out.number<std::uint8_t>(overrides != nullptr ? 1 : 0);
    if (overrides != nullptr) {
        out.list(overrides->numbers, put_override);
        out.list(overrides->plans, put_plan);
        out.list(overrides->keys, put_overridden);
    }
}

std::shared_ptr<const Overrides> get_overrides(Reader& in) {
    if (!in.flag()) {
        return nullptr;
    }
    auto overrides = std::make_shared<Overrides>();
    overrides->numbers = in.list<LimitOverride>(kOverrideSize, get_override);
    overrides->plans = in.list<OverridePlan>(kPlanSize, get_plan);
    overrides->keys = in.list<KeyOverrides>(kOverriddenSize, get_overridden);
    return overrides;
}

void put_rule(Writer& out, const Rule& rule) {
    out.text(rule.id);
    out.word(rule.mode);
    out.word(rule.on_match);
    out.word(rule.missing_key);
    out.word(rule.on_full);
    out.number(rule.match_action);
    out.number(rule.on_exceed);
    out.number(rule.coarsen_factor);
    out.number(rule.table_share);
    out.number(rule.cost);
    out.number<std::uint8_t>(rule.rejected_spend ? 1 : 0);
    for (const ActionIndex action : rule.on_color) {
        out.number(action);
    }
    out.number(rule.owner_group);
    out.list(rule.keys, put_key);
    out.list(rule.limits, put_metered);
    put_ban(out, rule.ban);
    put_overrides(out, rule.overrides.get());
}

Rule get_rule(Reader& in) {
    Rule rule;
    rule.id = in.text();
    rule.mode = in.word<Mode>();
    rule.on_match = in.word<OnMatch>();
    rule.missing_key = in.word<MissingKey>();
    rule.on_full = in.word<OnFull>();
    rule.match_action = in.number<ActionIndex>();
    rule.on_exceed = in.number<ActionIndex>();
    rule.coarsen_factor = in.number<std::uint32_t>();
    rule.table_share = in.number<std::uint32_t>();
    rule.cost = in.number<std::uint32_t>();
    rule.rejected_spend = in.flag();
    for (ActionIndex& action : rule.on_color) {
        action = in.number<ActionIndex>();
    }
    rule.owner_group = in.number<std::uint16_t>();
    rule.keys = in.list<GroupingKey>(kKeySize, get_key);
    rule.limits = in.list<MeteredLimit>(kLimitSize, get_metered);
    rule.ban = get_ban(in);
    rule.overrides = get_overrides(in);
    (void)fill_coarser(rule);
    return rule;
}

void put_group(Writer& out, const OwnerGroup& group) {
    put_key(out, group.parts);
    out.number(group.salt);
}

OwnerGroup get_group(Reader& in) {
    GroupingKey parts = get_key(in);
    return {std::move(parts), in.number<std::uint64_t>()};
}

}  // namespace

void put_rule_set(Writer& out, const RuleSet& set) {
    out.number(set.generation);
    put_rules(out, set);
    put_databases(out, set.classifier.parts());
}

void put_rules(Writer& out, const RuleSet& set) {
    put_classifier(out, set.classifier.parts());
    put_origins(out, set.origins);
    out.list(set.actions, put_action);
    out.list(set.rules, put_rule);
    out.list(set.owner_groups, put_group);
}

RuleSet get_rule_set(Reader& in) {
    RuleSet set;
    set.generation = in.number<std::uint64_t>();
    ClassifierParts parts = get_classifier(in);
    set.origins = get_origins(in);
    set.actions = in.list<Action>(kActionSize, get_action);
    set.rules = in.list<Rule>(kRuleSize, get_rule);
    set.owner_groups = in.list<OwnerGroup>(kGroupSize, get_group);
    get_databases(in, parts);
    if (in.ok() && are_sound(parts, set.rules.size())) {
        set.classifier = Classifier{std::move(parts)};
    } else {
        in.fail();
    }
    return set;
}

}  // namespace sluice
