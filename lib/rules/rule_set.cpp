#include "lib/rules/rule_set.hpp"

#include "lib/bucket/table/own_bucket.hpp"
#include "lib/rules/counts_once.hpp"
#include "lib/rules/rule_actions.hpp"
#include "lib/rules/service_fault.hpp"
#include "lib/rules/sound_overrides.hpp"
#include "lib/rules/text_part.hpp"

#include <unordered_set>

namespace sluice {
namespace {

using Fault = std::optional<std::string>;

template <typename Enum>
bool within(Enum value, Enum last) noexcept {
    return value <= last;
}

bool enums_hold(const Rule& rule) noexcept {
    return (rule.mode == Mode::Monitor || rule.mode == Mode::Enforce) &&
           within(rule.on_match, OnMatch::Bypass) && within(rule.on_full, OnFull::Coarsen);
}

template <typename Row>
bool setting_holds(const Row& row, const Rule& rule) noexcept {
    return value_holds(row, rule);
}
// Files say whole percents; rules of a tenant share what it has, in parts of any size.
template <typename Value>
bool setting_holds(const ConfigKey<RuleTerms, Value, form::Percent>& row,
                   const Rule& rule) noexcept {
    return rule.*row.member >= 1 && rule.*row.member <= row.form.range.most * row.form.unit;
}

bool settings_hold(const Rule& rule) noexcept {
    bool all =
        enums_hold(rule) && rule.coarsen_factor >= 2 && rule.coarsen_factor <= kMaxCoarsenFactor;
    for_each_key(kConfigKeys<RuleTerms>,
                 [&](const auto& row) { all = all && setting_holds(row, rule); });
    return all;
}

// An answer names what is there, and goes on to what answers nothing.
bool answer_holds(const Action& action, const RuleSet& set) noexcept {
    const AnswerTerms& answer = action.answer;
    const bool truncates = answer.response == 0 && action.verdict == Verdict::Reply;
    return (truncates || (answer.response != 0 && answer.response <= set.responses.size())) &&
           answer.slip <= kMaxSlip && answer.then < set.actions.size() &&
           set.actions[answer.then].verdict >= Verdict::Reset && action.tag == TagValues{};
}

bool shape_holds(const Action& action) noexcept {
    const ShapeValues& shape = action.shape;
    return shape.max_delay > Nanoseconds{0} && shape.max_delay <= kLongestDelay &&
           (shape.overflow == Verdict::Drop || shape.overflow == Verdict::Pass) &&
           action.tag == TagValues{} && action.answer == AnswerTerms{};
}

// The actions that are built, each with its own parameters and no others.
bool action_holds(const Action& action, const RuleSet& set) noexcept {
    switch (action.verdict) {
        case Verdict::Pass:
        case Verdict::Reset:
        case Verdict::Drop:
            return action == Action{.verdict = action.verdict};
        case Verdict::Shape:
            return shape_holds(action);
        case Verdict::Tag:
            return action.tag.dscp.value_or(0) < 64 && action.tag.pcp.value_or(0) < 8 &&
                   action.answer == AnswerTerms{} && action.shape == ShapeValues{};
        case Verdict::Decoy:
        case Verdict::Reply:
            return answer_holds(action, set) && action.shape == ShapeValues{};
        default:
            return false;
    }
}

bool actions_hold(const RuleSet& set) noexcept {
    const std::vector<Action>& actions = set.actions;
    return actions.size() > kDropAction && actions.size() <= kMaxActions &&
           actions[kPassAction] == kPass && actions[kDropAction] == kDrop &&
           std::all_of(actions.begin(), actions.end(),
                       [&](const Action& action) { return action_holds(action, set); });
}

bool names_actions(const Rule& rule, std::size_t actions) noexcept {
    return std::ranges::all_of(actions_of(rule),
                               [&](const UsedAction& one) { return one.action < actions; });
}

// Shaped packets wait for buckets that know when they have room again, and a rule shapes only what
// exceeds its limits.
bool shaping_holds(const Rule& rule, const std::vector<Action>& actions) noexcept {
    const auto shapes = [&](ActionIndex action) {
        return actions[action].verdict == Verdict::Shape;
    };
    const auto shapes_other = [&](const UsedAction& one) {
        return one.use != ActionUse::Exceed && shapes(one.action);
    };
    return std::ranges::none_of(actions_of(rule), shapes_other) &&
           (!shapes(rule.on_exceed) ||
            std::all_of(rule.limits.begin(), rule.limits.end(),
                        [](const MeteredLimit& limit) { return gcra_of(limit.limit) != nullptr; }));
}

// Costs by path are those of requests alone.
bool cost_holds(const Rule& rule) noexcept {
    return rule.cost >= 1 && rule.cost <= kMaxCost && are_sound(rule.path_costs, kMaxCost) &&
           (rule.path_costs.empty() ||
            std::all_of(rule.limits.begin(), rule.limits.end(),
                        [](const MeteredLimit& limit) { return limit.per == Per::Request; }));
}

bool part_holds(const KeyPart& part) noexcept {
    if (part.text && (static_cast<std::size_t>(*part.text) >= kTextFieldCount ||
                      part.room < kLeastTextRoom || part.field != Field{})) {
        return false;
    }
    return static_cast<std::size_t>(part.field) < kFieldCount && part.v4_length <= 32 &&
           part.v6_length <= 128 && part.unwrapping.bits() <= Unwrapping::kAll &&
           (part.unwrapping == Unwrapping{} || is_client(part.field)) &&
           (part.text || (part.room == 0 && !part.lower));
}

bool key_holds(const GroupingKey& key) noexcept {
    if (key.size() > kMaxKeyParts) {
        return false;
    }
    return std::all_of(key.begin(), key.end(), part_holds) && most_bytes(key) <= kMaxKeySize;
}

// Every key has limits, and they come key by key.
bool limits_follow_keys(const Rule& rule) noexcept {
    std::size_t keys = 0;
    for (const MeteredLimit& limit : rule.limits) {
        keys += limit.key == keys ? 1U : 0U;
        if (limit.key + std::size_t{1} != keys) {
            return false;
        }
    }
    return keys == rule.keys.size();
}

// A box for each key or none at all, and penalties nowhere else.
bool ban_holds(const Rule& rule) noexcept {
    if (rule.ban.applies_to == BanScope::Source &&
        (rule.ban.action != kDropAction || !std::ranges::all_of(rule.keys, is_source))) {
        return false;
    }
    const auto is_penalty = [](const MeteredLimit& limit) {
        return algorithm_of(limit.limit) == Algorithm::Penalty;
    };
    std::size_t key = 0;
    return (!rule.bans() ||
            (rule.on_match == OnMatch::Meter && rule.ban.boxes.size() == rule.keys.size())) &&
           std::all_of(rule.ban.boxes.begin(), rule.ban.boxes.end(),
                       [&](const MeteredLimit& box) {
                           return is_penalty(box) && box.key == key++ && box.per == Per::Packet;
                       }) &&
           std::none_of(rule.limits.begin(), rule.limits.end(), is_penalty);
}

// Each packet is looked up under all rules that ban sources.
bool source_bans_fit(const std::vector<Rule>& rules) noexcept {
    const auto fits = static_cast<std::ptrdiff_t>(kMostSourceBans);
    return std::ranges::count_if(rules, bans_sources) <= fits;
}

Fault fault_of(const Rule& rule, const std::vector<Action>& actions) {
    if (rule.id.empty() || rule.id.size() > kMaxRuleIdSize) {
        return "a rule id is empty or too long";
    }
    if (!settings_hold(rule) || !cost_holds(rule)) {
        return "rule " + rule.id + ": a setting is out of range";
    }
    if (!names_actions(rule, actions.size())) {
        return "rule " + rule.id + ": an action that it names is not there";
    }
    if (!shaping_holds(rule, actions)) {
        return "rule " + rule.id + ": it cannot shape";
    }
    const std::vector<GroupingKey> keys = read_keys(rule);
    if (!std::all_of(keys.begin(), keys.end(), key_holds)) {
        return "rule " + rule.id + ": its key is not sound";
    }
    if (rule.has_limits() == rule.limits.empty() || rule.limits.size() > kMaxLimitsPerRule) {
        return "rule " + rule.id + ": wrong number of limits";
    }
    if (!limits_follow_keys(rule)) {
        return "rule " + rule.id + ": its limits do not follow its keys";
    }
    if (const char* fault = fault_of_what_counts_once(rule)) {
        return "rule " + rule.id + ": " + fault;
    }
    if (!ban_holds(rule)) {
        return "rule " + rule.id + ": its ban is not sound";
    }
    if (!overrides_hold(rule)) {
        return "rule " + rule.id + ": its overrides are not sound";
    }
    for (const MeteredLimit& limit : rule.limits) {
        if (!within(limit.per, Per::Handshake) || !within(limit.scope, LimitScope::Asked) ||
            !within(limit.cluster_scope, ClusterScope::Cluster) ||
            !within(limit.owner_down, OwnerDown::Closed)) {
            return "rule " + rule.id + ": a limit counts something unknown";
        }
    }
    return std::nullopt;
}

// Each comes behind the rule in whose place it is judged.
bool candidates_hold(const std::vector<Rule>& rules) noexcept {
    const Rule* place = nullptr;
    return std::all_of(rules.begin(), rules.end(), [&](const Rule& rule) {
        if (!rule.candidate) {
            place = &rule;
            return true;
        }
        return place != nullptr && place->on_match == OnMatch::Meter &&
               rule.on_match == OnMatch::Meter && rule.mode == Mode::Monitor;
    });
}

bool groups_hold(const RuleSet& set) noexcept {
    return set.owner_groups.size() <= set.rules.size() && schedules_hold(set.schedules) &&
           std::all_of(set.owner_groups.begin(), set.owner_groups.end(),
                       [](const OwnerGroup& group) { return key_holds(group.parts); }) &&
           std::all_of(set.rules.begin(), set.rules.end(), [&](const Rule& rule) {
               return rule.owner_group <= set.owner_groups.size() &&
                      rule.schedule <= set.schedules.size() &&
                      (rule.owner_group == 0 || rule.has_limits());
           });
}

bool are_named(const GroupingKey& key, const TextNames& names) noexcept {
    return std::all_of(key.begin(), key.end(), [&](const KeyPart& part) {
        return !part.text || is_known(*part.text, names);
    });
}

// A rule that asks for a registrable domain has a list to find it by.
bool suffixes_hold(const RuleSet& set) {
    return set.suffixes == nullptr ? !asks_for_domain(set) : are_sound(*set.suffixes);
}

// Every text that a condition or a key tests has a known name.
bool names_hold(const RuleSet& set) {
    const TextNames& names = set.named_texts;
    const std::vector<TextTestParts>& tests = set.classifier.parts().texts.tests;
    return are_sound(names) &&
           std::all_of(tests.begin(), tests.end(),
                       [&](const TextTestParts& test) { return is_known(test.field, names); }) &&
           std::all_of(set.owner_groups.begin(), set.owner_groups.end(),
                       [&](const OwnerGroup& group) { return are_named(group.parts, names); }) &&
           std::all_of(set.rules.begin(), set.rules.end(), [&](const Rule& rule) {
               const std::vector<GroupingKey> keys = read_keys(rule);
               return std::all_of(keys.begin(), keys.end(),
                                  [&](const GroupingKey& key) { return are_named(key, names); });
           });
}

}  // namespace

bool asks_for_domain(const RuleSet& set) noexcept {
    const auto is_domain = [&](TextField field) {
        const TextName* name = find_derived(field, set.named_texts);
        return name != nullptr && name->kind == TextName::Kind::RegistrableDomain;
    };
    const auto has_domain = [&](const GroupingKey& key) {
        return std::any_of(key.begin(), key.end(),
                           [&](const KeyPart& part) { return part.text && is_domain(*part.text); });
    };
    const std::vector<TextTestParts>& tests = set.classifier.parts().texts.tests;
    return std::any_of(tests.begin(), tests.end(),
                       [&](const TextTestParts& test) { return is_domain(test.field); }) ||
           std::any_of(set.rules.begin(), set.rules.end(), [&](const Rule& rule) {
               const std::vector<GroupingKey> keys = read_keys(rule);
               return std::any_of(keys.begin(), keys.end(), has_domain);
           });
}

std::optional<std::string> find_fault(const RuleSet& set) {
    if (set.rules.size() > kMaxRules) {
        return "more than " + std::to_string(kMaxRules) + " rules";
    }
    if (!are_sound(set.classifier.parts(), set.rules.size())) {
        return "the compiled conditions are not sound";
    }
    if (const Fault& fault = set.classifier.texts().fault()) {
        return fault;
    }
    if (set.origins != nullptr && !are_sound(*set.origins)) {
        return "the countries and ASNs of addresses are not sound";
    }
    if (set.clients != nullptr && !are_sound(*set.clients)) {
        return "who names clients is not sound";
    }
    if (!actions_hold(set)) {
        return "the table of actions is not sound";
    }
    if (!candidates_hold(set.rules)) {
        return "a candidate is in no rule's place";
    }
    if (!source_bans_fit(set.rules)) {
        return "more than " + std::to_string(kMostSourceBans) + " rules ban sources";
    }
    if (!groups_hold(set)) {
        return "the owners of keys or the schedules are not sound";
    }
    if (Fault fault = find_service_fault(set.services, set.service_classifier)) {
        return fault;
    }
    std::unordered_set<std::string> ids;
    std::unordered_set<std::uint64_t> identities;
    std::size_t limits = 0;
    for (const Rule& rule : set.rules) {
        if (Fault fault = fault_of(rule, set.actions)) {
            return fault;
        }
        if (!ids.insert(rule.id).second) {
            return "two rules are called " + rule.id;
        }
        bool different = true;
        for_each_state(rule, [&](const MeteredLimit& limit) {
            different = identities.insert(limit.identity).second && different;
        });
        if (!different) {
            return "two limits have one identity";
        }
        limits += rule.limits.size() + rule.ban.boxes.size();
    }
    if (limits > kMaxLimits) {
        return "more than " + std::to_string(kMaxLimits) + " limits";
    }
    if (!names_hold(set)) {
        return "the names of texts are not sound";
    }
    return suffixes_hold(set) ? std::nullopt : Fault{"the list of public suffixes is not sound"};
}

}  // namespace sluice
