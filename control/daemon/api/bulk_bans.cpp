#include "control/daemon/api/banned_networks.hpp"
#include "control/daemon/api/bulk_keys.hpp"
#include "control/daemon/api/key_of_cluster.hpp"
#include "control/daemon/api/known_members.hpp"
#include "control/daemon/api/setting_words.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

// Many bans in one call: all of them, or none.
namespace sluice {
namespace {

constexpr BulkForm kBanForm{.path_end = "/bans",
                            .example = R"({"keys":["part|part"],"for":"1h","reason":"…"})",
                            .too_many =
                                "banned by name; put them into an override file with a `ban` "
                                "column"};

// Keys that are to be banned, and faults of the others.
struct ReadBans {
    KeySettings settings;
    KeyFaults faults{"error"};
    KeyFaults warnings{"warning"};
};

ReadBans read_bans(const BulkCall& call) {
    ReadBans read;
    std::set<std::pair<std::size_t, std::string>> seen;
    const Json& keys = call.body["keys"];
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (!keys[i].is_string()) {
            read.faults.add(i + 1, "a key is a text, part|part");
            continue;
        }
        const Found found = find_key({.rule = call.rule,
                                      .key = keys[i],
                                      .tier = call.body.value("tier", std::size_t{0}),
                                      .or_network = true},
                                     *call.view);
        if (const auto* refusal = std::get_if<HttpResponse>(&found)) {
            read.faults.add(i + 1, detail_in(*refusal));
            continue;
        }
        const auto& key = std::get<FoundKey>(found);
        Result<KeySetting> setting = read_setting("ban", call.body, key);
        if (!setting) {
            read.faults.add(i + 1, setting.error().what);
        } else if (!seen.emplace(setting->tier, setting->key).second) {
            read.faults.add(i + 1, "the key " + setting->key + " is there twice");
        } else {
            read.settings.push_back(*std::move(setting));
            if (const std::string everybody = everybody_text(key); !everybody.empty()) {
                read.warnings.add(i + 1, everybody);
            }
        }
    }
    return read;
}

std::string audit_text(const std::string& rule, const KeySettings& settings) {
    NamedKeys named;
    for (const KeySetting& one : settings) {
        named.add(one.key);
    }
    const std::string& reason = settings.front().reason;
    return fmt::format("key ban {}: {} keys{}{}", rule, settings.size(), named.text(),
                       reason.empty() ? "" : " (" + reason + ")");
}

}  // namespace

HttpResponse post_bans(const HttpRequest& request, Services& services) {
    std::variant<BulkCall, HttpResponse> told = read_bulk(request, services, kBanForm);
    if (auto* refusal = std::get_if<HttpResponse>(&told)) {
        return std::move(*refusal);
    }
    const auto& call = std::get<BulkCall>(told);
    if (auto refusal = refuse_unknown(call.body, {"keys", "tier", "for", "reason", "cluster"})) {
        return *std::move(refusal);
    }
    const std::variant<bool, HttpResponse> for_cluster = read_for_cluster(call.body, services);
    if (const auto* refusal = std::get_if<HttpResponse>(&for_cluster)) {
        return *refusal;
    }
    const ReadBans read = read_bans(call);
    if (read.faults.count() != 0) {
        return problem_response(
            422, "nothing was banned",
            fmt::format("{} of {} keys are wrong", read.faults.count(), call.body["keys"].size()),
            read.faults.told());
    }
    const std::shared_ptr<const RuleView> before = services.rules.view();
    const RuleChange change = services.rules.set_keys(read.settings, author_of(request));
    const std::string said = audit_text(call.rule, read.settings);
    if (change.refusal || !std::get<bool>(for_cluster)) {
        record(services, request, said, change);
    }
    if (change.refusal) {
        return refused_setting(*change.refusal);
    }
    Json json{{"rule", call.rule},
              {"banned", read.settings.size()},
              {"warnings", read.warnings.told()},
              {"generation", generation_text(change.after)}};
    if (std::get<bool>(for_cluster)) {
        std::variant<Json, HttpResponse> number =
            tell_cluster_or_undo(read.settings, *before, said, request, services);
        if (auto* refusal = std::get_if<HttpResponse>(&number)) {
            return std::move(*refusal);
        }
        record(services, request, said + " --cluster", change);
        json["cluster"] = std::get<Json>(number);
    }
    return json_response(json);
}

}  // namespace sluice
