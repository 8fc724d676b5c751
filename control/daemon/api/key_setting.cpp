#include "control/active_json.hpp"
#include "control/daemon/api/banned_networks.hpp"
#include "control/daemon/api/change.hpp"
#include "control/daemon/api/cluster.hpp"
#include "control/daemon/api/key_of_cluster.hpp"
#include "control/daemon/api/setting_words.hpp"
#include "control/daemon/api/tenant_view.hpp"
#include "control/daemon/dynamic_count.hpp"
#include "lib/policy/keys/key_text.hpp"
#include "lib/policy/overrides/setting_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

// Settings of single keys by an operator: other numbers, exempt, banned.
namespace sluice {
namespace {

// The name of a change of a setting: in the audit, and in the reply.
struct SettingCall {
    std::string action;
    std::string rule;
    std::string key;
    std::size_t tier = 1;
    std::string more{};          // for the audit: what was set, and why
    Json told = Json::object();  // in the reply, beside what is set
};

// Bans of the key, or network, that operators have not set for it by name, and whether they hold.
struct OtherBans {
    Json by_file;  // as of file_ban_json()
    Json networks = Json::array();
    bool exempt = false;  // the key is; networks do not ban it then

    [[nodiscard]] bool hold() const { return !by_file.is_null() || (!exempt && !networks.empty()); }
};

bool is_set_exempt(const FoundKey& key, const RuleView& view) {
    return std::ranges::any_of(view.keys, [&key](const KeySetting& one) {
        return one.rule == key.ask.rule && one.key == key.text &&
               one.tier == key.ask.key + std::size_t{1} && !has_ended(one) &&
               one.what == KeySetting::What::Exempt;
    });
}

// `exempt`: a worker says so. Where none has answered, what operators have set is known all the
// same.
OtherBans other_bans(FoundKey key, bool exempt, const RuleView& view) {
    if (const RuleSummary* rule = find_rule(view.rules, key.ask.rule)) {
        key.rule = rule;  // as it is now
    }
    return {file_ban_json(key), networks_json(key, view), exempt || is_set_exempt(key, view)};
}

// Told beside what is set: what else bans the key, or exempts it.
void add_bans(const FoundKey& key, const OtherBans& bans, Json& told) {
    told["mode"] = kModeNames[static_cast<std::size_t>(key.rule->mode)];
    told["exempt"] = bans.exempt;
    if (Json inactive = inactive_json(*key.rule, utc_now()); !inactive.is_null()) {
        told["inactive"] = std::move(inactive);
    }
    told["is_network"] = key.is_network;
    if (!bans.by_file.is_null()) {
        told["file_ban"] = bans.by_file;
    }
    if (!bans.networks.empty()) {
        told["networks"] = bans.networks;
    }
}

HttpResponse respond(const SettingCall& call, const RuleChange& change, const HttpRequest& request,
                     Services& services) {
    record(services, request,
           fmt::format("key {} {} {}{}", call.action, call.rule, call.key, call.more), change);
    if (change.refusal) {
        return refused_setting(*change.refusal);
    }
    Json json{
        {"rule", call.rule},
        {"key", call.key},
        {"tier", call.tier},
        {"action", call.action},
        {"set", settings_json(call.rule, call.key, call.tier, view_for(request, services)->keys)},
        {"generation", generation_text(change.after)},
        {"alone_in_cluster", call.told.contains("cluster") ? Json() : cluster_name_json(services)}};
    json.update(call.told);
    return json_response(json);
}

// A key, or a network, without a ban that an operator has set for it: the ban that it has all the
// same, what ends that, and the way through.
HttpResponse banned_otherwise(const SettingCall& call, const FoundKey& key, const OtherBans& bans) {
    std::string by;
    if (!bans.by_file.is_null()) {
        const auto reason = text_at(bans.by_file, "reason");
        by = " by policy" + (reason.empty() ? "" : " (because: " + reason + ")");
    }
    const bool with_networks = !bans.exempt && !bans.networks.empty();
    if (with_networks) {
        by +=
            (by.empty() ? "" : ", and") + (" with its network " + text_of_networks(bans.networks));
    }
    const bool can_be_exempt = !key.rule->dynamic && !key.is_network;
    return problem_response(
        409, "not banned by itself",
        fmt::format("{} is banned{}; what ends that: {}{}", call.key, by,
                    ends_of(bans.by_file, with_networks ? bans.networks : Json::array()),
                    can_be_exempt
                        ? fmt::format(", or let this key alone through: key set {} {} --exempt",
                                      call.rule, call.key)
                        : ""));
}

// Lets the key out of the penalty boxes as well, which may be all that there is to do.
void lift_also(SettingCall& call, const FoundKey& key, RuleChange& change, Services& services) {
    const bool goes_on = !change.refusal || change.refusal->kind == Refusal::Kind::NothingSet;
    if (!goes_on || key.is_network || key.rule->ban.empty()) {
        return;
    }
    const Lifted lifted = lift(key, services);
    call.told["lifted"] = lifted.workers;
    call.told["unanswered_workers"] = lifted.unanswered;
    call.more += lifted.workers == 0 ? "" : fmt::format(": lifted on {}", lifted.workers);
    if (lifted.workers != 0) {
        change.refusal.reset();
    }
}

// A box that lacks a setting which the cluster had needs no refusal: nothing is left to unset.
void forgive_nothing_set(const SettingCall& call, RuleChange& change) {
    if (call.told.contains("cluster") && change.refusal &&
        change.refusal->kind == Refusal::Kind::NothingSet) {
        change.refusal.reset();
    }
}

// Ends the operator's ban and the one that the rule's penalty box holds. Those of a file, and of a
// network that the key lies in, go on, and are named.
HttpResponse unban_key(SettingCall call, const FoundKey& key, const HttpRequest& request,
                       Services& services) {
    RuleChange change = services.rules.unset_key(
        {.rule = call.rule, .key = call.key, .tier = call.tier, .bans = true, .limit = {}},
        author_of(request));
    forgive_nothing_set(call, change);
    lift_also(call, key, change, services);
    const std::shared_ptr<const RuleView> view = view_for(request, services);
    const bool exempt = !key.is_network && look_at(key, {.after = view->generation}, services);
    const OtherBans bans = other_bans(key, exempt, *view);
    if (bans.hold() && change.refusal && change.refusal->kind == Refusal::Kind::NothingSet) {
        record(services, request, fmt::format("key unban {} {}{}", call.rule, call.key, call.more),
               change);
        return banned_otherwise(call, key, bans);
    }
    add_bans(key, bans, call.told);
    return respond(call, change, request, services);
}

// Told once it is done: what is now to be known of the key beside it.
HttpResponse respond_with_bans(SettingCall call, const FoundKey& key, const RuleChange& change,
                               const HttpRequest& request, Services& services) {
    const bool exempt = !key.is_network && look_at(key, change, services);
    add_bans(key, other_bans(key, exempt, *view_for(request, services)), call.told);
    return respond(call, change, request, services);
}

// Takes the cluster's setting from all boxes, and lets the key out of their penalty boxes; nullopt:
// done, or there was none.
std::optional<HttpResponse> unset_in_cluster(SettingCall& call, const FoundKey* key,
                                             const std::string& limit, const HttpRequest& request,
                                             Services& services) {
    const bool bans = call.action == "unban";
    FleetSettingsChange change{
        .gone =
            {{.rule = call.rule, .key = call.key, .tier = call.tier, .bans = bans, .limit = limit}},
        .needs_any = true};
    if (bans && key != nullptr && !key->is_network && !key->rule->ban.empty()) {
        change.acts.push_back(
            {.action = "unban", .rule = call.rule, .key = call.key, .tier = call.tier});
    }
    std::variant<Json, HttpResponse> told = tell_cluster(
        std::move(change), fmt::format("key {} {} {}", call.action, call.rule, call.key), request,
        services);
    if (auto* refusal = std::get_if<HttpResponse>(&told)) {
        return std::move(*refusal);
    }
    call.told["cluster"] = std::get<Json>(told);
    call.more = " --cluster";
    return std::nullopt;
}

// Settings of another kind whose place `next` takes: `exempt` that of numbers, and numbers that
// of `exempt`.
Json replaced_by(const KeySetting& next, const KeySettings& all) {
    using What = KeySetting::What;
    Json ended = Json::array();
    for (const KeySetting& one : all) {
        const bool of_key = one.rule == next.rule && one.key == next.key && one.tier == next.tier;
        const bool a_ban = one.what == What::Banned || next.what == What::Banned;
        if (of_key && !a_ban && one.what != next.what && !has_ended(one)) {
            ended.push_back(setting_json(one));
        }
    }
    return ended;
}

// True if the very words are of a setting that was made when the rule had other keys.
bool is_of_other_keys(const SettingCall& call, const RuleView& view) {
    const RuleSummary* rule = find_rule(view.rules, call.rule);
    return rule != nullptr && std::ranges::any_of(view.keys, [&](const KeySetting& one) {
               return one.rule == call.rule && one.key == call.key && one.tier == call.tier &&
                      !is_of_keys(one, rule->keys, rule->text_names);
           });
}

HttpResponse set_key(const std::string& action, const FoundKey& key, const Json& body,
                     const HttpRequest& request, Services& services) {
    const bool for_cluster = body.value("cluster", false);
    Result<KeySetting> setting = read_setting(action, body, key);
    if (!setting) {
        note_refused_set(services, *key.rule);
        return problem_response(422, "nothing was set", setting.error().what);
    }
    SettingCall call{action, setting->rule, setting->key, setting->tier,
                     ": " + text_with_reason(*setting)};
    if (Json ended = replaced_by(*setting, view_for(request, services)->keys); !ended.empty()) {
        call.told["ended"] = std::move(ended);
    }
    if (const std::string everybody = everybody_text(key); !everybody.empty()) {
        call.told["warning"] = everybody;
    }
    if (find_narrower(key.rule->keys[key.ask.key], body.at("key").get<std::string>())) {
        call.told["asked"] = body.at("key");
    }
    const std::shared_ptr<const RuleView> before = services.rules.view();
    const RuleChange change = services.rules.set_key(*setting, author_of(request));
    if (change.refusal && action == "set") {
        note_refused_set(services, *key.rule);
    }
    if (for_cluster && !change.refusal) {
        std::variant<Json, HttpResponse> told = tell_cluster_or_undo(
            {*setting}, *before, fmt::format("key {} {} {}", action, call.rule, call.key), request,
            services);
        if (auto* refusal = std::get_if<HttpResponse>(&told)) {
            return std::move(*refusal);
        }
        call.told["cluster"] = std::get<Json>(told);
        call.more = " --cluster" + call.more;
    }
    return respond_with_bans(std::move(call), key, change, request, services);
}

}  // namespace

HttpResponse change_setting(const std::string& action, const KeyWords& words, const Json& body,
                            const HttpRequest& request, Services& services) {
    const bool sets = action == "set" || action == "ban";
    if (!sets && action != "unset" && action != "unban") {
        return bad_request("`action` is reset, forgive, grant, set, unset, ban or unban");
    }
    const std::shared_ptr<const RuleView> view = view_for(request, services);
    KeyWords wanted = words;
    wanted.or_network = action == "ban" || action == "unban";
    const Found found = find_key(wanted, *view);
    const auto* key = std::get_if<FoundKey>(&found);
    if (sets) {
        return key != nullptr ? set_key(action, *key, body, request, services)
                              : std::get<HttpResponse>(found);
    }
    // Settings of a key that does not fit the rule any more can be unset as they were written.
    SettingCall call{action, words.rule, words.key, std::max<std::size_t>(words.tier, 1)};
    key = is_of_other_keys(call, *view) ? nullptr : key;
    if (key != nullptr) {
        call = {action, key->ask.rule, key->text, key->ask.key + 1U};
    }
    if (words.for_cluster) {
        if (auto refusal = unset_in_cluster(call, key, words.limit, request, services)) {
            return *std::move(refusal);
        }
    }
    if (key != nullptr && action == "unban") {
        return unban_key(call, *key, request, services);
    }
    RuleChange change = services.rules.unset_key({.rule = call.rule,
                                                  .key = call.key,
                                                  .tier = call.tier,
                                                  .bans = action == "unban",
                                                  .limit = words.limit},
                                                 author_of(request));
    forgive_nothing_set(call, change);
    if (key != nullptr) {
        return respond_with_bans(std::move(call), *key, change, request, services);
    }
    const auto* unfit = std::get_if<HttpResponse>(&found);
    return change.refusal && unfit != nullptr ? *unfit : respond(call, change, request, services);
}

}  // namespace sluice
