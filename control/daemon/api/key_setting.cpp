#include "control/daemon/api/change.hpp"
#include "control/daemon/api/key_words.hpp"
#include "lib/policy/values/units_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>

// What an operator says of single keys: other numbers, exempt, banned.
namespace sluice {
namespace {

constexpr std::size_t kLongestReason = 200;
constexpr Nanoseconds kLongestSetting = std::chrono::hours{24 * 3650};

// What is to be set, as far as the body has it. An Error says what is wrong with it.
Result<KeySetting> read_setting(std::string_view action, const Json& body, const FoundKey& found) {
    KeySetting setting{.rule = found.ask.rule, .key = found.text, .tier = found.ask.key + 1U};
    std::string time;
    if (!read_text(body, "rate", setting.rate) || !read_text(body, "burst", setting.burst) ||
        !read_text(body, "count", setting.count) || !read_text(body, "for", time) ||
        !read_text(body, "reason", setting.reason) ||
        (body.contains("exempt") && !body["exempt"].is_boolean())) {
        return Error{Errc::BadSyntax,
                     "rate, burst, count, for and reason are texts, exempt a flag"};
    }
    if (setting.reason.size() > kLongestReason) {
        return Error{Errc::TooMany, "a reason has at most 200 bytes"};
    }
    if (!time.empty()) {
        const Result<Nanoseconds> lasts = parse_duration(time);
        if (!lasts || *lasts < std::chrono::seconds{1} || *lasts > kLongestSetting) {
            return Error{Errc::BadSyntax, "`for` is a duration from 1s to 3650d, such as 1h"};
        }
        setting.until =
            std::time(nullptr) + std::chrono::ceil<std::chrono::seconds>(*lasts).count();
    }
    const bool numbers = !setting.rate.empty() || !setting.burst.empty() || !setting.count.empty();
    const bool exempt = body.contains("exempt") && body["exempt"].get<bool>();
    setting.what = action == "ban" ? KeySetting::What::Banned
                   : exempt        ? KeySetting::What::Exempt
                                   : KeySetting::What::Numbers;
    if ((setting.what == KeySetting::What::Numbers) != numbers) {
        return Error{Errc::BadSyntax, action == "ban" ? "a ban has no numbers"
                                                      : "a key is exempt, or has a rate, a burst "
                                                        "or a count"};
    }
    return setting;
}

// The limit that is meant: the one that is named, or the only one of the key.
Result<std::string> limit_of(const FoundKey& found) {
    if (!found.ask.limit.empty()) {
        return found.ask.limit;
    }
    if (found.rule->limits.size() != 1) {
        return Error{Errc::BadSyntax, "the rule has several limits; say which with --limit"};
    }
    return found.rule->limits.front().name;
}

// The name of a change of a setting: in the audit, and in the reply.
struct SettingCall {
    std::string action;
    std::string rule;
    std::string key;
    std::size_t tier = 1;
    std::string more{};          // for the audit: what was set, and why
    Json told = Json::object();  // in the reply, beside what is set
};

// What does not fit the rule is found out when it is compiled.
HttpResponse refused_setting(const Refusal& refusal) {
    for (const Problem& problem : refusal.problems) {
        if (problem.severity == Severity::Error) {
            return problem_response(422, "nothing was set", problem.message);
        }
    }
    return refused(refusal);
}

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

// A bucket is brought under its key's numbers when it is looked at: at once, so that none is
// forgotten before.
void look_at(const FoundKey& key, const RuleChange& change, Services& services) {
    if (change.refusal) {
        return;
    }
    AskKey ask = key.ask;
    ask.action = KeyAction::Show;
    ask.generation = change.after;
    ask.limit.clear();
    (void)services.link.call(ask);
}

// What came of letting a key out of the workers' penalty boxes.
struct Lifted {
    std::size_t workers = 0;     // on which it was banned
    std::size_t unanswered = 0;  // of which nothing is known
};

Lifted lift(const FoundKey& key, Services& services) {
    AskKey ask = key.ask;
    ask.action = KeyAction::Unban;
    ask.generation = services.rules.view()->generation;
    ask.limit.clear();
    const Result<Reply> reply = services.link.call(ask);
    Lifted lifted;
    if (const auto* state = reply ? std::get_if<KeyState>(&*reply) : nullptr) {
        for (const KeyOnWorker& worker : state->workers) {
            lifted.workers += worker.lifted ? 1U : 0U;
            lifted.unanswered += worker.answered ? 0U : 1U;
        }
    }
    return lifted;
}

// Ends the operator's ban and the one that the rule's penalty box holds.
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
    return tell(call, change, request, services);
}

HttpResponse set_key(const std::string& action, const FoundKey& key, const Json& body,
                     const HttpRequest& request, Services& services) {
    Result<KeySetting> setting = read_setting(action, body, key);
    if (!setting) {
        return problem_response(422, "nothing was set", setting.error().what);
    }
    if (setting->what == KeySetting::What::Numbers) {
        const Result<std::string> limit = limit_of(key);
        if (!limit) {
            return problem_response(422, "nothing was set", limit.error().what);
        }
        setting->limit = *limit;
    }
    const SettingCall call{
        action, setting->rule, setting->key, setting->tier,
        ": " + text_of(*setting) + (setting->reason.empty() ? "" : " (" + setting->reason + ")")};
    const RuleChange change = services.rules.set_key(*std::move(setting), request.peer.uid);
    look_at(key, change, services);
    return tell(call, change, request, services);
}

}  // namespace

HttpResponse change_setting(const std::string& action, const KeyWords& words, const Json& body,
                            const HttpRequest& request, Services& services) {
    const bool sets = action == "set" || action == "ban";
    if (!sets && action != "unset" && action != "unban") {
        return problem_response(400, "bad request",
                                "`action` is reset, grant, set, unset, ban or unban");
    }
    const std::shared_ptr<const RuleView> view = services.rules.view();
    const Found found = find_key(words, *view);
    const auto* key = std::get_if<FoundKey>(&found);
    if (sets) {
        return key != nullptr ? set_key(action, *key, body, request, services)
                              : std::get<HttpResponse>(found);
    }
    // What was set for a key that does not fit the rule any more can be unset as it was written.
    SettingCall call{action, words.rule, words.key, std::max<std::size_t>(words.tier, 1)};
    if (key != nullptr) {
        call = {action, key->ask.rule, key->text, key->ask.key + 1U};
    }
    if (key != nullptr && action == "unban") {
        return unban_key(call, *key, request, services);
    }
    const RuleChange change = services.rules.unset_key({.rule = call.rule,
                                                        .key = call.key,
                                                        .tier = call.tier,
                                                        .bans = action == "unban",
                                                        .limit = words.limit},
                                                       request.peer.uid);
    if (key != nullptr) {
        look_at(*key, change, services);
    }
    return key == nullptr && change.refusal ? std::get<HttpResponse>(found)
                                            : tell(call, change, request, services);
}

}  // namespace sluice
