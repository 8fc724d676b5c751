#include "control/daemon/api/key_words.hpp"

#include "control/daemon/api/change.hpp"
#include "lib/policy/keys/key_text.hpp"

#include <algorithm>

namespace sluice {

HttpResponse rule_is_off() {
    return problem_response(409, "the rule is off", "a rule that is off has no buckets");
}

Found find_key(const KeyWords& words, const RuleView& view) {
    const RuleSummary* rule = find_rule(view.rules, words.rule);
    if (rule == nullptr) {
        return no_such_rule(words.rule);
    }
    if (rule->mode == Mode::Off) {
        return rule_is_off();
    }
    const std::optional<std::size_t> tier =
        words.tier == 0 ? std::nullopt : std::optional{words.tier};
    Result<ReadKey> key =
        read_key_of_rule(rule->keys, rule->missing_key, words.key, tier, rule->text_names);
    const bool is_network = !key && words.or_network && words.key.find('/') != std::string::npos;
    if (is_network) {
        key = read_network_of_rule(rule->keys, words.key, tier);
    }
    if (!key) {
        return problem_response(422, "no key of this rule", key.error().what);
    }
    const auto named = [&](const LimitSummary& limit) { return limit.name == words.limit; };
    if (!words.limit.empty() && std::none_of(rule->limits.begin(), rule->limits.end(), named)) {
        return problem_response(404, "no such limit",
                                "the rule " + words.rule + " has no limit " + words.limit);
    }
    const ByteView bytes = key->bytes.view();
    return FoundKey{{.action = words.action,
                     .generation = view.generation,
                     .rule = rule->id,
                     .key = key->index,
                     .bytes = {bytes.begin(), bytes.end()},
                     .limit = words.limit,
                     .units = words.units},
                    key->text,
                    rule,
                    is_network};
}

namespace {

// The store counts the limit, or is asked about it.
bool is_told_of(const LimitSummary& limit, Mode mode) {
    switch (limit.cluster->terms.sharing) {
        case ClusterSharing::Merged:
            return true;
        case ClusterSharing::Asked:
            return mode == Mode::Enforce && limit.numbers &&
                   store_asking_of(limit.numbers->limit).is_asked();
        case ClusterSharing::Refused:
            break;
    }
    return false;
}

}  // namespace

const LimitSummary* limit_of_cluster(const FoundKey& key) {
    const auto& limits = key.rule->limits;
    const auto found = std::ranges::find_if(limits, [&](const LimitSummary& limit) {
        return limit.tier == key.ask.key &&
               (key.ask.limit.empty() || key.ask.limit == limit.name) && limit.cluster &&
               limit.cluster->not_yet == nullptr && is_told_of(limit, key.rule->mode);
    });
    return found == limits.end() ? nullptr : &*found;
}

bool read_text(const Json& body, const char* name, std::string& text) {
    if (!body.contains(name)) {
        return true;
    }
    if (!body[name].is_string()) {
        return false;
    }
    text = body[name];
    return true;
}

Json settings_json(const std::string& rule, const std::string& key, std::size_t tier,
                   const KeySettings& settings) {
    Json list = Json::array();
    for (const KeySetting& setting : settings) {
        if (setting.rule == rule && setting.key == key && setting.tier == tier &&
            !has_ended(setting)) {
            list.push_back(setting_json(setting));
        }
    }
    return list;
}

}  // namespace sluice
