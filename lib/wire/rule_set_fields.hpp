#pragma once
#include "lib/rules/limit_numbers.hpp"
#include "lib/rules/load/memory_bound.hpp"
#include "lib/rules/rule_set.hpp"
#include "lib/wire/classifier_fields.hpp"
#include "lib/wire/config_fields.hpp"
#include "lib/wire/limit_fields.hpp"
#include "lib/wire/zone_fields.hpp"

#include <memory>
#include <utility>

// A rule set. What a Reader fills may break every rule of a rule set but this: its limits went
// through their make functions, and its classifier is sound. find_fault() checks the rest.
namespace sluice {

[[nodiscard]] inline MeteredLimit blank_of(std::type_identity<MeteredLimit>) {
    return {.name = {}, .limit = blank<AnyLimit>()};
}
[[nodiscard]] inline LimitOverride blank_of(std::type_identity<LimitOverride>) {
    return {.numbers = blank<AnyLimit>()};
}

template <typename Archive>
void serialize(Archive& archive, Of<Unwrapping> auto& unwrapping) {
    std::uint8_t bits = unwrapping.bits();
    archive(bits);
    if constexpr (Archive::kReads) {
        unwrapping = Unwrapping{bits};
    }
}

void serialize(auto& archive, Of<KeyPart> auto& part) {
    archive(part.field, part.v4_length, part.v6_length, part.unwrapping);
    archive.optional_word(part.text, TextField{kTextFieldCount - 1});
    archive(part.lower, part.room);
}
void serialize(auto& archive, Of<MeteredLimit> auto& limit) {
    archive(limit.identity, limit.name, limit.key, limit.per, limit.scope,
            limit.rss_mapping_at_ports, limit.max_unsynced, limit.cluster_scope, limit.owner_down,
            limit.limit, limit.of);
}
void serialize(auto& archive, Of<TagValues> auto& tag) {
    archive(tag.dscp, tag.pcp);
}
void serialize(auto& archive, Of<ShapeValues> auto& shape) {
    archive(shape.max_delay, shape.overflow);
}
void serialize(auto& archive, Of<Action> auto& action) {
    archive(action.verdict, action.tag, action.answer.response, action.answer.slip,
            action.answer.then, action.answer.tls_alert, action.shape);
}
void serialize(auto& archive, Of<ResponseSpec::Field> auto& field) {
    archive(field.name, field.value);
}
void serialize(auto& archive, Of<ResponseSpec> auto& response) {
    archive(response.status, response.fields, response.body, response.content_type,
            response.policy);
    archive.word(response.unit, QuotaUnit::ConcurrentRequests);
    archive(response.x_rate_limit);
}
void serialize(auto& archive, Of<Ban> auto& ban) {
    archive(ban.action, ban.boxes, ban.spoofable);
    archive.word(ban.applies_to, BanScope::Source);
}
template <typename Archive>
void serialize(Archive& archive, Of<EdgeEventSet> auto& events) {
    std::uint8_t bits = events.bits();
    archive(bits);
    if constexpr (Archive::kReads) {
        archive.check(bits <= EdgeEventSet::kAll);
        events = EdgeEventSet{bits};
    }
}
void serialize(auto& archive, Of<PathCost> auto& cost) {
    archive(cost.prefix, cost.cost);
}
void serialize(auto& archive, Of<LimitOverride> auto& numbers) {
    archive(numbers.limit, numbers.until, numbers.numbers);
}
void serialize(auto& archive, Of<OverridePlan> auto& plan) {
    archive(plan.exempt, plan.exempt_until, plan.banned, plan.banned_until, plan.first, plan.count);
}
void serialize(auto& archive, Of<KeyOverrides::Row> auto& row) {
    archive(row.end, row.plan);
}
void serialize(auto& archive, Of<KeyOverrides> auto& keys) {
    archive(keys.bytes, keys.rows);
}
void serialize(auto& archive, Of<OverrideRange> auto& range) {
    archive(range.first, range.last, range.plan, range.version);
}
void serialize(auto& archive, Of<Overrides> auto& overrides) {
    archive(overrides.numbers, overrides.plans, overrides.keys, overrides.networks,
            overrides.ranges);
}

template <typename Archive>
void serialize_overrides(Archive& archive, Of<std::shared_ptr<const Overrides>> auto& overrides) {
    bool given = overrides != nullptr;
    archive(given);
    if (!given) {
        return;
    }
    if constexpr (Archive::kReads) {
        Overrides read;
        archive(read);
        overrides = std::make_shared<const Overrides>(std::move(read));
    } else {
        archive(*overrides);
    }
}

template <typename Archive>
void serialize(Archive& archive, Of<Rule> auto& rule) {
    archive(rule.id, rule.mode, rule.on_match, rule.on_full, rule.match_action, rule.on_exceed,
            rule.coarsen_factor, rule.cost, rule.path_costs, rule.candidate, rule.asks_clients,
            rule.events, rule.on_color, rule.owner_group, rule.schedule);
    serialize_keys(archive, kConfigKeys<RuleTerms>, rule);
    archive(rule.keys, rule.limits, rule.ban);
    serialize_overrides(archive, rule.overrides);
    if constexpr (Archive::kReads) {
        if (archive.ok()) {
            (void)fill_coarser(rule);
        }
    }
}

template <typename Archive>
void serialize_clients(Archive& archive, Of<std::shared_ptr<const ClientSource>> auto& clients) {
    bool given = clients != nullptr;
    archive(given);
    if (!given) {
        return;
    }
    const auto serialize_source = [&](auto& source) {
        archive(source.proxies.steps, source.proxies.v6_steps, source.header, source.hops);
    };
    if constexpr (Archive::kReads) {
        ClientSource read;
        serialize_source(read);
        clients = std::make_shared<const ClientSource>(std::move(read));
    } else {
        serialize_source(*clients);
    }
}

void serialize(auto& archive, Of<SuffixRule> auto& rule) {
    archive(rule.name, rule.kinds);
}
template <typename Archive>
void serialize_suffixes(Archive& archive,
                        Of<std::shared_ptr<const std::vector<SuffixRule>>> auto& suffixes) {
    bool given = suffixes != nullptr;
    archive(given);
    if (!given) {
        return;
    }
    if constexpr (Archive::kReads) {
        std::vector<SuffixRule> read;
        archive(read);
        suffixes = std::make_shared<const std::vector<SuffixRule>>(std::move(read));
    } else {
        archive(*suffixes);
    }
}

void serialize(auto& archive, Of<OwnerGroup> auto& group) {
    archive(group.parts, group.salt);
}

void serialize(auto& archive, Of<Schedule::Range> auto& range) {
    archive(range.begin, range.end);
}
template <typename Archive>
void serialize(Archive& archive, Of<Schedule> auto& schedule) {
    if constexpr (Archive::kReads) {
        ZoneOffsets zone;
        archive(zone);
        schedule.zone = std::make_shared<const ZoneOffsets>(std::move(zone));
    } else {
        archive(*schedule.zone);
    }
    archive(schedule.active);
}

void serialize(auto& archive, Of<TextName> auto& name) {
    archive.word(name.kind, TextName::Kind::RegistrableDomain);
    archive(name.name);
    archive.word(name.source, TextField{kTextFieldCount - 1});
    archive(name.segments);
}

void serialize(auto& archive, Of<IpPrefix> auto& prefix) {
    archive(prefix.version, prefix.address.bytes, prefix.length);
}
void serialize(auto& archive, Of<PassedUpgrades> auto& upgrades) {
    archive(upgrades.websocket, upgrades.connect);
}
void serialize(auto& archive, Of<Service> auto& service) {
    archive(service.id);
    archive.word(service.protocol, ServiceProtocol::Quic);
    archive.word(service.mode, Mode::Enforce);
    for_each_key(kServiceKeys,
                 [&](const auto& keys) { serialize_keys(archive, keys.rows, service); });
}

// The classifiers of a set: by parts, which a Reader checks before it makes them.
template <typename Parts>
struct SetParts {
    Parts& rules;
    Parts& services;
};

[[nodiscard]] inline SetParts<const ClassifierParts> parts_of(const RuleSet& set) noexcept {
    return {set.classifier.parts(), set.service_classifier.parts()};
}

// Without its generation and its databases of patterns.
void serialize_rules(auto& archive, Of<RuleSet> auto& set, const auto& parts) {
    serialize_classifier(archive, parts.rules);
    archive(set.services);
    serialize_classifier(archive, parts.services);
    serialize_origins(archive, set.origins);
    serialize_clients(archive, set.clients);
    serialize_suffixes(archive, set.suffixes);
    archive(set.actions, set.responses, set.rules, set.owner_groups, set.schedules,
            set.named_texts);
}

template <typename Archive>
void serialize(Archive& archive, Of<RuleSet> auto& set) {
    archive(set.generation);
    if constexpr (Archive::kReads) {
        ClassifierParts rules;
        ClassifierParts services;
        serialize_rules(archive, set, SetParts<ClassifierParts>{rules, services});
        archive(rules.texts.databases);
        archive.check(archive.ok() && are_sound(rules, set.rules.size()) &&
                      are_sound(services, set.services.size()));
        if (archive.ok()) {
            archive.take_rest(memory_bound(set, {rules, services}, archive.room().workers));
        }
        if (archive.ok()) {
            set.classifier = Classifier{std::move(rules)};
            set.service_classifier = Classifier{std::move(services)};
        }
    } else {
        serialize_rules(archive, set, parts_of(set));
        archive(set.classifier.parts().texts.databases);
    }
}

}  // namespace sluice
