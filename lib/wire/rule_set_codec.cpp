#include "lib/wire/rule_set_codec.hpp"

#include "lib/rules/limit_numbers.hpp"
#include "lib/wire/classifier_codec.hpp"
#include "lib/wire/limit_codec.hpp"
#include "lib/wire/origin_codec.hpp"

namespace sluice {
namespace {

// The least bytes an item takes on the wire: bounds what a count can make us allocate.
constexpr std::size_t kKeyPartSize = 3;
constexpr std::size_t kKeySize = 4;
constexpr std::size_t kLimitSize = 31;
constexpr std::size_t kRuleSize = 49;

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
}

KeyPart get_part(Reader& in) {
    const auto field = in.word<Field>();
    const auto v4_length = in.number<std::uint8_t>();
    return {field, v4_length, in.number<std::uint8_t>()};
}

void put_key(Writer& out, const GroupingKey& key) {
    out.list(key, put_part);
}

GroupingKey get_key(Reader& in) {
    return in.list<KeyPart>(kKeyPartSize, get_part);
}

void put_limit(Writer& out, const MeteredLimit& limit) {
    out.number(limit.identity);
    out.text(limit.name);
    out.number(limit.key);
    out.word(limit.per);
    put_numbers(out, limit.limit);
}

MeteredLimit get_limit(Reader& in) {
    const auto identity = in.number<std::uint64_t>();
    std::string name = in.text();
    const auto key = in.number<std::uint8_t>();
    const auto per = in.word<Per>();
    return {.identity = identity,
            .name = std::move(name),
            .key = key,
            .per = per,
            .limit = get_numbers(in)};
}

void put_tag(Writer& out, const TagValues& tag) {
    put_optional(out, tag.dscp);
    put_optional(out, tag.pcp);
}

TagValues get_tag(Reader& in) {
    const std::optional<std::uint8_t> dscp = get_optional(in);
    return {dscp, get_optional(in)};
}

void put_rule(Writer& out, const Rule& rule) {
    out.text(rule.id);
    out.word(rule.mode);
    out.word(rule.on_match);
    out.word(rule.missing_key);
    out.word(rule.on_full);
    out.word(rule.on_exceed);
    put_tag(out, rule.tag);
    out.number(rule.coarsen_factor);
    out.number(rule.table_share);
    out.number(rule.cost);
    out.number<std::uint8_t>(rule.rejected_spend ? 1 : 0);
    for (const ColorAction& action : rule.on_color) {
        out.word(action.verdict);
        put_tag(out, action.tag);
    }
    out.list(rule.keys, put_key);
    out.list(rule.limits, put_limit);
}

Rule get_rule(Reader& in) {
    Rule rule;
    rule.id = in.text();
    rule.mode = in.word<Mode>();
    rule.on_match = in.word<OnMatch>();
    rule.missing_key = in.word<MissingKey>();
    rule.on_full = in.word<OnFull>();
    rule.on_exceed = in.word<Verdict>();
    rule.tag = get_tag(in);
    rule.coarsen_factor = in.number<std::uint32_t>();
    rule.table_share = in.number<std::uint32_t>();
    rule.cost = in.number<std::uint32_t>();
    rule.rejected_spend = in.flag();
    for (ColorAction& action : rule.on_color) {
        action.verdict = in.word<Verdict>();
        action.tag = get_tag(in);
    }
    rule.keys = in.list<GroupingKey>(kKeySize, get_key);
    rule.limits = in.list<MeteredLimit>(kLimitSize, get_limit);
    (void)fill_coarser(rule);
    return rule;
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
    out.list(set.rules, put_rule);
}

RuleSet get_rule_set(Reader& in) {
    RuleSet set;
    set.generation = in.number<std::uint64_t>();
    ClassifierParts parts = get_classifier(in);
    set.origins = get_origins(in);
    set.rules = in.list<Rule>(kRuleSize, get_rule);
    get_databases(in, parts);
    if (in.ok() && are_sound(parts, set.rules.size())) {
        set.classifier = Classifier{std::move(parts)};
    } else {
        in.fail();
    }
    return set;
}

}  // namespace sluice
