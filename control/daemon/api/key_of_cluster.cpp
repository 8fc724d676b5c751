#include "control/daemon/api/key_of_cluster.hpp"

#include "control/daemon/api/change.hpp"
#include "control/daemon/api/setting_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace sluice {
namespace {

std::string operator_in_cluster(const HttpRequest& request, const Services& services) {
    const std::string user =
        request.user.empty() ? fmt::format("user {}", request.peer.uid) : request.user;
    return fmt::format("{} at {}", user, services.fleet->options().node);
}

HttpResponse not_in_cluster(const Error& error) {
    switch (error.code) {
        case Errc::TooMany:
            return problem_response(409, "the cluster is full", error.what);
        case Errc::Busy:
            return problem_response(503, "not in the cluster now", error.what);
        default:
            return problem_response(503, "not in the cluster",
                                    error.what + "; without --cluster it is for this box alone");
    }
}

}  // namespace

KeySettings as_kept(KeySettings settings, const RuleView& view) {
    for (KeySetting& one : settings) {
        const auto kept = std::ranges::find_if(
            view.keys, [&](const KeySetting& here) { return says_same(here, one); });
        if (kept != view.keys.end()) {
            one.until = kept->until;
            one.of = kept->of;
        }
    }
    return settings;
}

std::variant<bool, HttpResponse> read_for_cluster(const Json& body, const Services& services) {
    if (!body.contains("cluster")) {
        return false;
    }
    if (!body["cluster"].is_boolean()) {
        return bad_request("`cluster` is true or false");
    }
    const bool is_wanted = body["cluster"];
    if (is_wanted && services.desk == nullptr) {
        return problem_response(409, "no etcd",
                                "the box is in no cluster that has an etcd (`cluster.etcd` of "
                                "sluice.yaml): what is set for single keys is each box's own");
    }
    return is_wanted;
}

std::variant<Json, HttpResponse> tell_cluster(FleetSettingsChange change, const std::string& call,
                                              const HttpRequest& request, Services& services) {
    change.by = operator_in_cluster(request, services);
    change.of_tenant = request.role == Role::Tenant;
    const Result<FleetChanged> changed = services.desk->change(change);
    if (!changed || changed->is_unknown) {
        const std::string unknown = "nobody knows whether it is done: etcd has not answered";
        const std::string outcome = changed ? unknown : "refused: " + changed.error().what;
        write_audit(services, request,
                    {.call = call + " --cluster", .before = "", .after = "", .outcome = outcome});
        const std::string look =
            change.of_tenant
                ? "; look before you call again"
                : fmt::format(
                      "; boxes that have it are at change {} or above it: look before you "
                      "call again",
                      changed ? changed->number : 0);
        return changed ? problem_response(503, "not known", unknown + look)
                       : not_in_cluster(changed.error());
    }
    if (changed->number == 0) {
        return problem_response(
            409, "nothing is set",
            fmt::format("the cluster has no {} for the key {}; what is set on a box alone is unset "
                        "without --cluster",
                        change.gone.front().bans ? "ban" : "setting", change.gone.front().key));
    }
    // Tenants are not told the number: it counts what others do.
    Json told{{"name", services.fleet->options().name},
              {"number", change.of_tenant ? Json() : Json(changed->number)}};
    if (changed->left != 0) {
        told["left"] = changed->left;
    }
    return told;
}

std::variant<Json, HttpResponse> tell_cluster_or_undo(const KeySettings& settings,
                                                      const RuleView& before,
                                                      const std::string& call,
                                                      const HttpRequest& request,
                                                      Services& services) {
    std::variant<Json, HttpResponse> told =
        tell_cluster({.put = as_kept(settings, *services.rules.view())}, call, request, services);
    if (std::holds_alternative<Json>(told)) {
        return told;
    }
    std::vector<SettingChoice> choices;
    KeySettings earlier;
    for (const KeySetting& one : settings) {
        const bool is_ban = one.what == KeySetting::What::Banned;
        choices.push_back({.rule = one.rule,
                           .key = one.key,
                           .tier = one.tier,
                           .bans = is_ban,
                           .limit = one.limit});
        std::ranges::copy_if(before.keys, std::back_inserter(earlier), [&](const KeySetting& was) {
            return was.rule == one.rule && was.key == one.key && was.tier == one.tier &&
                   (was.what == KeySetting::What::Banned) == is_ban && !has_ended(was);
        });
    }
    const RuleChange undone = services.rules.unset_keys(choices, author_of(request));
    record(services, request, call + " --cluster, undone", undone);
    if (!earlier.empty()) {
        record(services, request, call + " --cluster, undone: what was set before",
               services.rules.set_keys(std::move(earlier), author_of(request)));
    }
    return told;
}

HttpResponse act_in_cluster(const FoundKey& key, const HttpRequest& request, Services& services) {
    const std::string action{kKeyActionNames[static_cast<std::size_t>(key.ask.action)]};
    const std::string call = fmt::format("key {} {} {}", action, key.ask.rule, key.text);
    const std::variant<Json, HttpResponse> told = tell_cluster({.acts = {{.action = action,
                                                                          .rule = key.ask.rule,
                                                                          .key = key.text,
                                                                          .tier = key.ask.key + 1U,
                                                                          .limit = key.ask.limit,
                                                                          .units = key.ask.units}}},
                                                               call, request, services);
    if (const auto* refusal = std::get_if<HttpResponse>(&told)) {
        return *refusal;
    }
    const Json& cluster = std::get<Json>(told);
    write_audit(services, request,
                {.call = call + " --cluster", .before = "", .after = "", .outcome = "done"});
    return json_response({{"rule", key.ask.rule},
                          {"key", key.text},
                          {"tier", key.ask.key + 1},
                          {"action", action},
                          {"cluster", cluster}});
}

}  // namespace sluice
