#include "control/daemon/api/setting_words.hpp"

#include "control/visible_text.hpp"
#include "lib/policy/values/units_text.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>

namespace sluice {
namespace {

constexpr std::size_t kLongestReason = 200;
constexpr Nanoseconds kLongestSetting = std::chrono::hours{24 * 3650};

// The setting, as far as the body has it.
Result<KeySetting> read_words(std::string_view action, const Json& body, const FoundKey& found) {
    KeySetting setting{.rule = found.ask.rule, .key = found.text, .tier = found.ask.key + 1U};
    std::string time;
    if (!read_text(body, "rate", setting.rate) || !read_text(body, "burst", setting.burst) ||
        !read_text(body, "count", setting.count) || !read_text(body, "for", time) ||
        (body.contains("exempt") && !body["exempt"].is_boolean())) {
        return Error{Errc::BadSyntax, "rate, burst, count and for are texts, exempt a flag"};
    }
    if (const Result<Done> said = read_reason(body, setting.reason); !said) {
        return said.error();
    }
    if (body.contains("for")) {
        const Result<Nanoseconds> lasts = parse_duration(time);
        if (!lasts || *lasts < std::chrono::seconds{1} || *lasts > kLongestSetting) {
            return Error{Errc::BadSyntax, "`for` is a duration from 1s to 3650d, such as 1h"};
        }
        const std::optional<DynamicTerms>& dynamic = found.rule->dynamic;
        if (action == "set" && dynamic && *lasts > dynamic->ttl) {
            return Error{Errc::OutOfRange, "`for` is at most the ttl of the rule's `dynamic`, " +
                                               dynamic->ttl_text + "; found " + time};
        }
        setting.until =
            std::time(nullptr) + std::chrono::ceil<std::chrono::seconds>(*lasts).count();
    }
    const bool exempt = body.contains("exempt") && body["exempt"].get<bool>();
    if (exempt && found.rule->dynamic) {
        return Error{Errc::BadSyntax, "the rule's `dynamic` holds its keys within " +
                                          text_of(*found.rule->dynamic) +
                                          ": none can be exempt but by `overrides`"};
    }
    const bool numbers = !setting.rate.empty() || !setting.burst.empty() || !setting.count.empty();
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

}  // namespace

Result<Done> read_reason(const Json& body, std::string& reason) {
    if (!read_text(body, "reason", reason)) {
        return Error{Errc::BadSyntax, "a reason is a text"};
    }
    if (reason.size() > kLongestReason) {
        return Error{Errc::TooMany, "a reason has at most 200 bytes"};
    }
    if (has_control(reason)) {
        return Error{Errc::BadSyntax,
                     "a reason is one line, without control characters, tabs and line ends"};
    }
    return Done{};
}

Result<KeySetting> read_setting(std::string_view action, const Json& body, const FoundKey& found) {
    Result<KeySetting> setting = read_words(action, body, found);
    if (!setting || setting->what != KeySetting::What::Numbers) {
        return setting;
    }
    const Result<std::string> limit = limit_of(found);
    if (!limit) {
        return limit.error();
    }
    setting->limit = *limit;
    return setting;
}

std::string text_with_reason(const KeySetting& setting) {
    return text_of(setting) + (setting.reason.empty() ? "" : " (" + setting.reason + ")");
}

HttpResponse refused_setting(const Refusal& refusal) {
    for (const Problem& problem : refusal.problems) {
        if (problem.severity == Severity::Error) {
            return problem_response(422, "nothing was set", problem.message);
        }
    }
    return refused(refusal);
}

void note_refused_set(Services& services, const RuleSummary& rule) {
    if (rule.dynamic) {
        services.rules.refused_sets().count(rule.id, services.rules.view()->rules);
    }
}

bool look_at(const FoundKey& key, const RuleChange& change, Services& services) {
    if (change.refusal) {
        return false;
    }
    AskKey ask = key.ask;
    ask.action = KeyAction::Show;
    ask.generation = change.after;
    ask.limit.clear();
    const Result<Reply> reply = services.link.call(ask);
    const auto* state = reply ? std::get_if<KeyState>(&*reply) : nullptr;
    return state != nullptr &&
           std::ranges::any_of(state->workers, [](const KeyOnWorker& one) { return one.exempt; });
}

Lifted lift(const FoundKey& key, Services& services) {
    AskKey ask = key.ask;
    ask.action = KeyAction::Unban;
    ask.generation = services.rules.view()->generation;
    ask.limit.clear();
    const Result<Reply> reply = services.link.call(ask);
    Lifted lifted{.unanswered = 1};
    if (const auto* state = reply ? std::get_if<KeyState>(&*reply) : nullptr) {
        lifted.unanswered = 0;
        for (const KeyOnWorker& worker : state->workers) {
            lifted.workers += worker.lifted ? 1U : 0U;
            lifted.unanswered += worker.answered ? 0U : 1U;
        }
    }
    return lifted;
}

}  // namespace sluice
