#include "control/daemon/api/banned_networks.hpp"
#include "control/daemon/api/change.hpp"
#include "control/daemon/api/setting_words.hpp"

#include <fmt/format.h>

#include <algorithm>

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

HttpResponse tell(const SettingCall& call, const RuleChange& change, const HttpRequest& request,
                  Services& services) {
    record(services, request,
           fmt::format("key {} {} {}{}", call.action, call.rule, call.key, call.more), change);
    if (change.refusal) {
        return refused_setting(*change.refusal);
    }
    Json json{{"rule", call.rule},
              {"key", call.key},
              {"tier", call.tier},
              {"action", call.action},
              {"set", settings_json(call.rule, call.key, call.tier, services.rules.view()->keys)},
              {"generation", generation_text(change.after)}};
    json.update(call.told);
    return json_response(json);
}

// The network that bans a key without a ban of its own, and the way through.
HttpResponse banned_with(const SettingCall& call, const FoundKey& key, const Json& networks) {
    const std::string exempt =
        key.rule->dynamic ? ""
                          : fmt::format(", or let this key alone through: key set {} {} --exempt",
                                        call.rule, call.key);
    return problem_response(
        409, "not banned by itself",
        fmt::format("{} is banned with its network {}; unban that: key unban {} {}{}", call.key,
                    text_of_networks(networks), call.rule, text_at(networks.front(), "key"),
                    exempt));
}

// Ends the operator's ban and the one that the rule's penalty box holds. That of a network that the
// key lies in goes on, and is named.
HttpResponse unban_key(SettingCall call, const FoundKey& key, const HttpRequest& request,
                       Services& services) {
    RuleChange change = services.rules.unset_key(
        {.rule = call.rule, .key = call.key, .tier = call.tier, .bans = true, .limit = {}},
        request.peer.uid);
    const bool named = !change.refusal;
    if ((named || change.refusal->kind == Refusal::Kind::NothingSet) && !key.rule->ban.empty()) {
        const Lifted lifted = lift(key, services);
        call.told = {{"lifted", lifted.workers}, {"unanswered_workers", lifted.unanswered}};
        call.more = lifted.workers == 0 ? "" : fmt::format(": lifted on {}", lifted.workers);
        if (lifted.workers != 0) {
            change.refusal.reset();
        }
    }
    const Json networks = networks_json(key, *services.rules.view());
    if (!networks.empty() && change.refusal && change.refusal->kind == Refusal::Kind::NothingSet) {
        record(services, request, fmt::format("key unban {} {}{}", call.rule, call.key, call.more),
               change);
        return banned_with(call, key, networks);
    }
    if (!networks.empty()) {
        call.told["networks"] = networks;
    }
    return tell(call, change, request, services);
}

HttpResponse set_key(const std::string& action, const FoundKey& key, const Json& body,
                     const HttpRequest& request, Services& services) {
    Result<KeySetting> setting = read_setting(action, body, key);
    if (!setting) {
        note_refused_set(services, *key.rule);
        return problem_response(422, "nothing was set", setting.error().what);
    }
    const SettingCall call{action, setting->rule, setting->key, setting->tier,
                           ": " + text_with_reason(*setting)};
    const RuleChange change = services.rules.set_key(*std::move(setting), request.peer.uid);
    if (change.refusal && action == "set") {
        note_refused_set(services, *key.rule);
    }
    if (!key.is_network) {
        look_at(key, change, services);
    }
    return tell(call, change, request, services);
}

}  // namespace

HttpResponse change_setting(const std::string& action, const KeyWords& words, const Json& body,
                            const HttpRequest& request, Services& services) {
    const bool sets = action == "set" || action == "ban";
    if (!sets && action != "unset" && action != "unban") {
        return bad_request("`action` is reset, forgive, grant, set, unset, ban or unban");
    }
    const std::shared_ptr<const RuleView> view = services.rules.view();
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
    if (key != nullptr) {
        call = {action, key->ask.rule, key->text, key->ask.key + 1U};
    }
    if (key != nullptr && action == "unban" && !key->is_network) {
        return unban_key(call, *key, request, services);
    }
    const RuleChange change = services.rules.unset_key({.rule = call.rule,
                                                        .key = call.key,
                                                        .tier = call.tier,
                                                        .bans = action == "unban",
                                                        .limit = words.limit},
                                                       request.peer.uid);
    if (key != nullptr && !key->is_network) {
        look_at(*key, change, services);
    }
    return key == nullptr && change.refusal ? std::get<HttpResponse>(found)
                                            : tell(call, change, request, services);
}

}  // namespace sluice
