#include "control/daemon/api/banned_networks.hpp"
#include "control/daemon/api/bulk_keys.hpp"
#include "control/daemon/api/key_of_cluster.hpp"
#include "control/daemon/api/known_members.hpp"
#include "control/daemon/api/setting_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>
#include <vector>

// The end of many bans in one call, with one change of the rules. A key that is none of the rule's
// ends the call before anything is done; one that is not banned is told, and the others are let
// out.
namespace sluice {
namespace {

constexpr BulkForm kUnbanForm{.path_end = "/unbans",
                              .example = R"({"keys":["part|part"],"tier":1,"reason":"…"})",
                              .too_many = "banned by name, and so let out at once"};

// A stalled worker takes a fifth of a second for each key; others wait for their turn meanwhile.
constexpr std::chrono::seconds kMostLifting{10};

using TierKey = std::pair<std::size_t, std::string>;

// A key whose bans are to end.
struct Banned {
    std::size_t item = 0;  // of the call, from 1 on
    TierKey key;
    std::optional<FoundKey> found;  // nullopt: it does not fit the rule any more
    bool by_name = false;           // an operator has banned it
    bool ended = false;             // so it was, and that ban has ended since the call was read
    bool lifted = false;            // a penalty box has held it
    bool unknown = false;           // not all penalty boxes could be asked
};

struct ReadUnbans {
    std::vector<Banned> keys;
    KeyFaults faults{"error"};
};

std::set<TierKey> banned_by_name(const BulkCall& call) {
    std::set<TierKey> keys;
    for (const KeySetting& one : call.view->keys) {
        if (one.rule == call.rule && one.what == KeySetting::What::Banned && !has_ended(one)) {
            keys.emplace(one.tier, one.key);
        }
    }
    return keys;
}

ReadUnbans read_unbans(const BulkCall& call) {
    ReadUnbans read;
    const std::set<TierKey> by_name = banned_by_name(call);
    const auto tier = call.body.value("tier", std::size_t{0});
    std::set<TierKey> seen;
    const Json& keys = call.body["keys"];
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (!keys[i].is_string()) {
            read.faults.add(i + 1, "a key is a text, part|part");
            continue;
        }
        Found found = find_key(
            {.rule = call.rule, .key = keys[i], .tier = tier, .or_network = true}, *call.view);
        Banned one{.item = i + 1, .key = {std::max<std::size_t>(tier, 1), keys[i]}};
        if (auto* fits = std::get_if<FoundKey>(&found)) {
            one.key = {fits->ask.key + std::size_t{1}, fits->text};
            one.found = std::move(*fits);
        }
        one.by_name = by_name.contains(one.key);
        if (!one.found && !one.by_name) {
            read.faults.add(i + 1, detail_in(std::get<HttpResponse>(found)));
        } else if (seen.insert(one.key).second) {
            read.keys.push_back(std::move(one));
        }
    }
    return read;
}

// One change for all that operators have banned. None of these bans may be left by then: each has
// run out, or another call has ended it. Nothing changes then, and nothing is wrong.
RuleChange unset_named(const BulkCall& call, std::vector<Banned>& keys, const Author& from,
                       Services& services) {
    std::vector<SettingChoice> choices;
    for (const Banned& one : keys) {
        if (one.by_name) {
            choices.push_back(
                {.rule = call.rule, .key = one.key.second, .tier = one.key.first, .bans = true});
        }
    }
    if (choices.empty()) {
        return {.before = call.view->generation, .after = call.view->generation};
    }
    RuleChange change = services.rules.unset_keys(choices, from);
    if (change.refusal && change.refusal->kind == Refusal::Kind::NothingSet) {
        for (Banned& one : keys) {
            one.ended = std::exchange(one.by_name, false);
        }
        return {.before = change.before, .after = change.before};
    }
    return change;
}

// Takes the cluster's bans of the keys from all boxes, and lets the keys out of their penalty
// boxes.
std::variant<Json, HttpResponse> unban_in_cluster(const BulkCall& call,
                                                  const std::vector<Banned>& keys,
                                                  const HttpRequest& request, Services& services) {
    FleetSettingsChange change;
    for (const Banned& one : keys) {
        const auto& [tier, key] = one.key;
        change.gone.push_back({.rule = call.rule, .key = key, .tier = tier, .bans = true});
        if (one.found && !one.found->is_network && !one.found->rule->ban.empty()) {
            change.acts.push_back({.action = "unban", .rule = call.rule, .key = key, .tier = tier});
        }
    }
    return tell_cluster(std::move(change),
                        fmt::format("key unban {}: {} keys", call.rule, keys.size()), request,
                        services);
}

// Asks the workers key by key, as long as they answer and there is time.
void lift_all(std::vector<Banned>& keys, Services& services) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + kMostLifting;
    for (Banned& one : keys) {
        if (!one.found || one.found->is_network || one.found->rule->ban.empty()) {
            continue;
        }
        one.unknown = Clock::now() >= end;
        if (!one.unknown) {
            const Lifted lifted = lift(*one.found, services);
            one.lifted = lifted.workers != 0;
            one.unknown = lifted.unanswered != 0;
        }
    }
}

// A key without a ban that an operator has set for it, and the ban that it has all the same.
std::string banned_text(const Banned& one, const RuleView& view) {
    const std::string& key = one.key.second;
    const Json by_file = one.found ? file_ban_json(*one.found) : Json();
    if (!by_file.is_null()) {
        return fmt::format("{} is banned by policy; what ends that: {}", key,
                           ends_of(by_file, Json::array()));
    }
    const Json networks = one.found ? networks_json(*one.found, view) : Json::array();
    return networks.empty()
               ? fmt::format("the key {} is not banned", key)
               : fmt::format("{} is banned with its network {}", key, text_of_networks(networks));
}

// Keys of which there is something to tell: those that had no ban of their own, with the network
// that bans one all the same, and those whose penalty boxes could not be asked.
struct ToTell {
    KeyFaults warnings{"warning"};
    std::size_t not_banned = 0;
    std::size_t ended = 0;
    std::size_t unanswered = 0;

    void add(const Banned& one, const RuleView& view) {
        const std::string& key = one.key.second;
        if (one.unknown) {
            ++unanswered;
            warnings.add(one.item, fmt::format("not all workers have answered whether their "
                                               "penalty box lets {} out; try again",
                                               key));
        } else if (one.ended && !one.lifted) {
            ++ended;
            warnings.add(one.item, fmt::format("the ban of {} had ended by then", key));
        } else if (!one.by_name && !one.lifted) {
            ++not_banned;
            warnings.add(one.item, warnings.takes_more() ? banned_text(one, view) : "");
        }
    }
};

ToTell to_tell_of(const std::vector<Banned>& keys, const RuleView& view) {
    ToTell others;
    for (const Banned& one : keys) {
        others.add(one, view);
    }
    return others;
}

std::string audit_text(const BulkCall& call, const std::vector<Banned>& keys,
                       std::size_t unbanned) {
    const std::string reason = call.body.value("reason", "");
    NamedKeys named;
    for (const Banned& one : keys) {
        if (one.by_name || one.lifted) {
            named.add(one.key.second);
        }
    }
    return fmt::format("key unban {}: {} keys{}{}", call.rule, unbanned, named.text(),
                       reason.empty() ? "" : " (" + reason + ")");
}

}  // namespace

HttpResponse post_unbans(const HttpRequest& request, Services& services) {
    std::variant<BulkCall, HttpResponse> told = read_bulk(request, services, kUnbanForm);
    if (auto* refusal = std::get_if<HttpResponse>(&told)) {
        return std::move(*refusal);
    }
    const auto& call = std::get<BulkCall>(told);
    if (auto refusal = refuse_unknown(call.body, {"keys", "tier", "reason", "cluster"})) {
        return *std::move(refusal);
    }
    const std::variant<bool, HttpResponse> for_cluster = read_for_cluster(call.body, services);
    if (const auto* refusal = std::get_if<HttpResponse>(&for_cluster)) {
        return *refusal;
    }
    std::string reason;
    if (const Result<Done> said = read_reason(call.body, reason); !said) {
        return problem_response(422, "nothing was unbanned", said.error().what);
    }
    ReadUnbans read = read_unbans(call);
    if (read.faults.count() != 0) {
        return problem_response(
            422, "nothing was unbanned",
            fmt::format("{} of {} keys are wrong", read.faults.count(), call.body["keys"].size()),
            read.faults.told());
    }
    Json cluster;
    if (std::get<bool>(for_cluster)) {
        std::variant<Json, HttpResponse> number =
            unban_in_cluster(call, read.keys, request, services);
        if (auto* refusal = std::get_if<HttpResponse>(&number)) {
            return std::move(*refusal);
        }
        cluster = std::get<Json>(std::move(number));
    }
    const RuleChange change = unset_named(call, read.keys, author_of(request), services);
    if (change.refusal) {
        record(services, request, audit_text(call, read.keys, read.keys.size()), change);
        return refused_setting(*change.refusal);
    }
    lift_all(read.keys, services);
    ToTell others = to_tell_of(read.keys, *call.view);
    const auto unbanned = static_cast<std::size_t>(std::ranges::count_if(
        read.keys, [](const Banned& one) { return one.by_name || one.lifted; }));
    if (cluster.is_null() && unbanned == 0 && std::ranges::none_of(read.keys, &Banned::ended)) {
        return problem_response(404, "nothing was unbanned",
                                fmt::format("none of {} keys was banned by itself, as far as "
                                            "workers have answered",
                                            read.keys.size()),
                                others.warnings.told());
    }
    record(services, request,
           audit_text(call, read.keys, unbanned) + (cluster.is_null() ? "" : " --cluster"), change);
    return json_response({{"rule", call.rule},
                          {"unbanned", unbanned},
                          {"not_banned", others.not_banned},
                          {"ended", others.ended},
                          {"unanswered", others.unanswered},
                          {"warnings", others.warnings.told()},
                          {"generation", generation_text(change.after)},
                          {"cluster", std::move(cluster)}});
}

}  // namespace sluice
