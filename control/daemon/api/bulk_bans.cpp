#include "control/daemon/api/known_members.hpp"
#include "control/daemon/api/setting_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

// Many bans in one call: all of them, or none.
namespace sluice {
namespace {

constexpr std::size_t kMostTold = 100;  // faults
constexpr std::size_t kMostNamed = 10;  // keys, in the audit

// What is to be banned, and what is wrong with the rest, by the number of the item.
struct ReadBans {
    KeySettings settings;
    Json faults = Json::array();
    std::size_t fault_count = 0;

    void fault(std::size_t item, const std::string& what) {
        if (++fault_count <= kMostTold) {
            faults.push_back({{"file", ""},
                              {"line", item},
                              {"column", 1},
                              {"severity", "error"},
                              {"message", what}});
        }
    }
};

std::string detail_in(const HttpResponse& problem) {
    const Json document = Json::parse(problem.body, nullptr, false);
    return document.is_object() ? document.value("detail", "") : "";
}

ReadBans read_bans(const Json& body, const std::string& rule, const RuleView& view) {
    ReadBans read;
    std::set<std::pair<std::size_t, std::string>> seen;
    const Json& keys = body["keys"];
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (!keys[i].is_string()) {
            read.fault(i + 1, "a key is a text, part|part");
            continue;
        }
        const Found found = find_key({.rule = rule,
                                      .key = keys[i],
                                      .tier = body.value("tier", std::size_t{0}),
                                      .or_network = true},
                                     view);
        if (const auto* refusal = std::get_if<HttpResponse>(&found)) {
            read.fault(i + 1, detail_in(*refusal));
            continue;
        }
        Result<KeySetting> setting = read_setting("ban", body, std::get<FoundKey>(found));
        if (!setting) {
            read.fault(i + 1, setting.error().what);
        } else if (!seen.emplace(setting->tier, setting->key).second) {
            read.fault(i + 1, "the key " + setting->key + " is there twice");
        } else {
            read.settings.push_back(*std::move(setting));
        }
    }
    return read;
}

std::string audit_text(const std::string& rule, const KeySettings& settings) {
    std::string text = fmt::format("key ban {}: {} keys", rule, settings.size());
    for (std::size_t i = 0; i < std::min(settings.size(), kMostNamed); ++i) {
        text += (i == 0 ? ", " : " ") + settings[i].key;
    }
    text += settings.size() > kMostNamed ? " ..." : "";
    return text + (settings.front().reason.empty() ? "" : " (" + settings.front().reason + ")");
}

}  // namespace

HttpResponse post_bans(const HttpRequest& request, Services& services) {
    const Json body = Json::parse(request.body, nullptr, false);
    const bool has_keys = body.is_object() && body.contains("keys") && body["keys"].is_array() &&
                          !body["keys"].empty() &&
                          (!body.contains("tier") || body["tier"].is_number_unsigned());
    if (!has_keys) {
        return bad_request(R"(the body is {"keys":["part|part"],"for":"1h","reason":"…"}, )"
                           "of which only `keys` is needed");
    }
    if (auto refusal = refuse_unknown(body, {"keys", "tier", "for", "reason"})) {
        return *std::move(refusal);
    }
    if (body["keys"].size() > kMaxKeySettings) {
        return problem_response(413, "too many",
                                fmt::format("at most {} keys can be banned by name; put them into "
                                            "an override file with a `ban` column",
                                            kMaxKeySettings));
    }
    const std::string id = rule_in(request, "/bans");
    const std::shared_ptr<const RuleView> view = services.rules.view();
    if (find_rule(view->rules, id) == nullptr) {
        return no_such_rule(id);
    }
    const ReadBans read = read_bans(body, id, *view);
    if (read.fault_count != 0) {
        return problem_response(
            422, "nothing was banned",
            fmt::format("{} of {} keys are wrong", read.fault_count, body["keys"].size()),
            read.faults);
    }
    const RuleChange change = services.rules.set_keys(read.settings, request.peer.uid);
    record(services, request, audit_text(id, read.settings), change);
    if (change.refusal) {
        return refused_setting(*change.refusal);
    }
    return json_response({{"rule", id},
                          {"banned", read.settings.size()},
                          {"generation", generation_text(change.after)}});
}

}  // namespace sluice
