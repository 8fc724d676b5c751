#include "control/active_json.hpp"
#include "control/daemon/api/banned_networks.hpp"
#include "control/daemon/api/change.hpp"
#include "control/daemon/api/json_body.hpp"
#include "control/daemon/api/key_words.hpp"
#include "control/daemon/api/known_members.hpp"
#include "control/daemon/api/own_numbers_text.hpp"
#include "control/daemon/api/range_rows.hpp"
#include "control/daemon/api/tenant_view.hpp"
#include "lib/base/whole_number.hpp"
#include "lib/policy/values/units_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

// Answers about what one key of a rule has left, and what an operator does to its buckets.
namespace sluice {
namespace {

Json wait_json(std::int64_t wait_ns) {
    return wait_ns == std::numeric_limits<std::int64_t>::max() ? Json() : Json(wait_ns);
}

Json bucket_json(std::uint32_t lcore, const KeyBucketState& bucket, const FoundKey& found) {
    Json json{{"lcore", lcore},
              {"bucket", bucket.own},
              {"before", bucket.before},
              {"remaining", bucket.remaining},
              {"most", bucket.most},
              {"wait_ns", wait_json(bucket.wait_ns)},
              {"fresh_ns", bucket.fresh_ns},
              {"carried", bucket.carried},
              {"step", bucket.aggregation_level},
              {"overridden", bucket.overridden},
              {"given_wider", bucket.given_wider}};
    if (Json row = range_row_json(found, bucket.range); !row.is_null()) {
        json["row"] = std::move(row);
    }
    return json;
}

// The network or range that exempts the key; null: none does.
Json exempt_row(const FoundKey& found, const KeyState& state) {
    for (const KeyOnWorker& worker : state.workers) {
        if (worker.exempt) {
            return range_row_json(found, worker.exempt_range);
        }
    }
    return {};
}

bool any_worker(const KeyState& state, bool KeyOnWorker::* flag) {
    return std::any_of(state.workers.begin(), state.workers.end(),
                       [flag](const KeyOnWorker& worker) { return worker.*flag; });
}

// {"after":3,"workers":[…]}: the key's place in the penalty box; null: the rule has none.
Json ban_json(const KeyState& state) {
    Json json;
    for (const KeyOnWorker& worker : state.workers) {
        if (worker.after != 0) {
            json["after"] = worker.after;
            json["workers"].push_back({{"lcore", worker.lcore},
                                       {"refusals", worker.refusals},
                                       {"left_ns", worker.ban_left_ns},
                                       {"lifted", worker.lifted},
                                       {"step", worker.ban_level}});
        }
    }
    return json;
}

bool is_boxed(const KeyState& state) {
    return std::any_of(state.workers.begin(), state.workers.end(), [](const KeyOnWorker& worker) {
        return worker.ban_left_ns != 0 && !worker.lifted;
    });
}

// The key's buckets of one limit, on all workers that have one.
Json buckets_json(const FoundKey& found, const KeyState& state, std::size_t limit) {
    Json buckets = Json::array();
    for (const KeyOnWorker& worker : state.workers) {
        for (const KeyBucketState& bucket : worker.limits) {
            if (bucket.limit == limit) {
                buckets.push_back(bucket_json(worker.lcore, bucket, found));
            }
        }
    }
    return buckets;
}

// The numbers that the key has for the limit, as far as a worker has them.
std::string numbers_text(const FoundKey& found, const KeyState& state, std::size_t limit) {
    std::string text = limit < found.rule->limits.size() ? found.rule->limits[limit].text : "";
    for (const KeyOnWorker& worker : state.workers) {
        for (const KeyBucketState& bucket : worker.limits) {
            if (bucket.limit == limit && bucket.overridden) {
                return with_own_numbers(text, bucket);
            }
        }
    }
    return text;
}

// The remainder of a key that workers share: as the worker sees it that knows of most, which is
// behind the truth by no more than the limit's overshoot. It is fresh once it is at all of them.
Json shared_json(const Json& buckets) {
    Json shared = buckets.front();
    Json fresh = shared.at("fresh_ns");
    for (const Json& bucket : buckets) {
        fresh = std::max(fresh, bucket.at("fresh_ns"));
        if (bucket.at("remaining") < shared.at("remaining")) {
            shared = bucket;
        }
    }
    shared["fresh_ns"] = fresh;
    shared.erase("lcore");
    return shared;
}

// [{"name":…,"text":…,"shared":…,"workers":[…]}]: of the limits that have a bucket for the key.
Json limits_json(const FoundKey& found, const KeyState& state) {
    Json limits = Json::array();
    for (std::size_t i = 0; i < state.limits.size(); ++i) {
        if (Json buckets = buckets_json(found, state, i); !buckets.empty()) {
            Json limit{{"name", state.limits[i]}, {"text", numbers_text(found, state, i)}};
            if (i < found.rule->limits.size() && found.rule->limits[i].scope == "merged") {
                limit["shared"] = shared_json(buckets);
            }
            limit["workers"] = std::move(buckets);
            limits.push_back(std::move(limit));
        }
    }
    return limits;
}

Json unanswered_json(const KeyState& state) {
    Json unanswered = Json::array();
    for (const KeyOnWorker& worker : state.workers) {
        if (!worker.answered) {
            unanswered.push_back({{"lcore", worker.lcore}, {"begun", worker.begun}});
        }
    }
    return unanswered;
}

// For the audit: "1 on lcore 1: 3 of 10".
std::string left_text(const KeyState& state, std::uint64_t KeyBucketState::* left) {
    std::string text;
    for (const KeyOnWorker& worker : state.workers) {
        for (const KeyBucketState& bucket : worker.limits) {
            const std::string name =
                bucket.limit < state.limits.size() ? state.limits[bucket.limit] : "?";
            text += fmt::format("{}{} on lcore {}: {} of {}", text.empty() ? "" : ", ", name,
                                worker.lcore, bucket.*left, bucket.most);
        }
    }
    return text;
}

bool all_answered(const KeyState& state) {
    return std::all_of(state.workers.begin(), state.workers.end(),
                       [](const KeyOnWorker& worker) { return worker.answered; });
}

void record(Services& services, const HttpRequest& request, const FoundKey& found,
            const Result<Reply>& reply) {
    const auto* state = reply ? std::get_if<KeyState>(&*reply) : nullptr;
    const std::string_view action = kKeyActionNames[static_cast<std::size_t>(found.ask.action)];
    std::string call = fmt::format("key {} {} {}", action, found.ask.rule, found.text);
    if (found.ask.action == KeyAction::Grant) {
        call += fmt::format(" {}", found.ask.units);
    }
    write_audit(services, request,
                {.call = std::move(call),
                 .before = state != nullptr ? left_text(*state, &KeyBucketState::before) : "",
                 .after = state != nullptr ? left_text(*state, &KeyBucketState::remaining) : "",
                 .outcome = !reply                 ? "refused: " + reply.error().what
                            : state == nullptr     ? "refused"
                            : all_answered(*state) ? "done"
                                                   : "done, but not every worker has answered"});
}

// The dataplane has new rules a moment before they are shown here, and answers nothing about the
// old ones: then they are waited for. False: there are none.
bool shows_others(const RuleView& view, const Services& services) {
    constexpr std::chrono::milliseconds kPause{20};
    constexpr int kPauses = 50;
    for (int i = 0; i < kPauses; ++i) {
        if (services.rules.view()->generation != view.generation) {
            return true;
        }
        std::this_thread::sleep_for(kPause);
    }
    return false;
}

// The key's limit that the boxes of a cluster count together, of those that the words are about;
// nullptr: there is none.
const LimitSummary* limit_of_cluster(const FoundKey& key) {
    const auto& limits = key.rule->limits;
    const auto found = std::ranges::find_if(limits, [&](const LimitSummary& limit) {
        return limit.tier == key.ask.key &&
               (key.ask.limit.empty() || key.ask.limit == limit.name) && limit.cluster &&
               limit.cluster->terms.sharing != ClusterSharing::Refused &&
               limit.cluster->not_yet == nullptr;
    });
    return found == limits.end() ? nullptr : &*found;
}

// The units that a key has used are the sum of all boxes, and the store's: one box's gift would be
// used again with the store's next answer.
HttpResponse counted_by_cluster(const LimitSummary& limit, const FoundKey& key) {
    return problem_response(
        409, "counted by the cluster",
        fmt::format("the boxes of the cluster count the limit {} together, so that nothing can be "
                    "given back to a key on one of them; `key set {} KEY --exempt --for TIME` on "
                    "each lets it through",
                    limit.name, key.ask.rule));
}

HttpResponse ask_key(const KeyWords& words, const HttpRequest& request, Services& services) {
    const std::shared_ptr<const RuleView> view = view_for(request, services);
    const Found found = find_key(words, *view);
    if (const auto* refusal = std::get_if<HttpResponse>(&found)) {
        return *refusal;
    }
    const auto& key = std::get<FoundKey>(found);
    if (const LimitSummary* limit = limit_of_cluster(key);
        limit != nullptr && words.action != KeyAction::Show) {
        return counted_by_cluster(*limit, key);
    }
    const Result<Reply> reply = services.link.call(key.ask);
    if (!reply && reply.error().code == Errc::Refused && shows_others(*view, services)) {
        return ask_key(words, request, services);  // nothing has been done
    }
    if (words.action != KeyAction::Show) {
        record(services, request, key, reply);
    }
    if (!reply) {
        return no_dataplane(reply.error());
    }
    const auto* state = std::get_if<KeyState>(&*reply);
    return state != nullptr ? json_response(key_state_json(key, *state, *view))
                            : problem_response(502, "refused by the dataplane",
                                               "the dataplane answered something else");
}

// `200`, `4K`, `64KiB`.
std::optional<std::uint64_t> read_units(const std::string& text) {
    Result<Units> units = parse_count(text);
    if (!units) {
        units = parse_size(text);
    }
    return units && *units != Units{0} ? std::optional{units->count()} : std::nullopt;
}

}  // namespace

// {"rule":…,"mode":…,"key":…,"action":…,"limits":[…],"unanswered":[…]}. What is
// exempt meets no penalty box (KeyStatus in lib/engine).
Json key_state_json(const FoundKey& found, const KeyState& state, const RuleView& view) {
    const bool exempt = any_worker(state, &KeyOnWorker::exempt);
    Json json{{"rule", found.ask.rule},
              {"mode", kModeNames[static_cast<std::size_t>(found.rule->mode)]},
              {"key", found.text},
              {"tier", found.ask.key + 1},
              {"action", kKeyActionNames[static_cast<std::size_t>(found.ask.action)]},
              {"exempt", exempt},
              {"banned", any_worker(state, &KeyOnWorker::banned) || (!exempt && is_boxed(state))},
              {"set", settings_json(found.ask.rule, found.text, found.ask.key + 1U, view.keys)},
              {"limits", limits_json(found, state)},
              {"unanswered", unanswered_json(state)}};
    if (Json inactive = inactive_json(*found.rule, utc_now()); !inactive.is_null()) {
        json["inactive"] = std::move(inactive);
    }
    if (found.rule->bans_sources) {
        json["applies_to"] = kBanScopeNames[1];
    }
    if (Json ban = ban_json(state); !ban.is_null()) {
        json["ban"] = std::move(ban);
    }
    if (Json row = exempt_row(found, state); !row.is_null()) {
        json["exempt_by"] = std::move(row);
    }
    if (Json rows = own_rows_json(found); !rows.empty()) {
        json["rows"] = std::move(rows);
    }
    if (Json ban = file_ban_json(found); !ban.is_null()) {
        json["file_ban"] = std::move(ban);
    }
    if (Json networks = networks_json(found, view); !networks.empty()) {
        json["networks"] = std::move(networks);
    }
    return json;
}

HttpResponse get_key(const HttpRequest& request, Services& services) {
    KeyWords words{.rule = rule_in(request, "/key"), .limit = argument(request, "limit", "")};
    const auto key = request.query.find("key");
    if (key == request.query.end()) {
        return bad_request("`key` is missing; it is part|part");
    }
    words.key = key->second;
    const auto tier = whole_number(argument(request, "tier", "0"));
    if (!tier) {
        return bad_request("`tier` is a number");
    }
    words.tier = *tier;
    return ask_key(words, request, services);
}

HttpResponse post_key(const HttpRequest& request, Services& services) {
    const std::variant<Json, HttpResponse> parsed = parse_body(request);
    if (const auto* refusal = std::get_if<HttpResponse>(&parsed)) {
        return *refusal;
    }
    const Json& body = std::get<Json>(parsed);
    KeyWords words{.rule = rule_in(request, "/key")};
    std::string action;
    if (!body.is_object() || !body.contains("key") || !read_text(body, "key", words.key) ||
        !read_text(body, "action", action) || !read_text(body, "limit", words.limit) ||
        !may_name_tier(body)) {
        return bad_request(
            R"(the body is {"key":"part|part","action":"reset"}, or forgive, grant, set, unset, ban, )"
            "unban");
    }
    if (auto refusal = refuse_unknown(body, {"key", "action", "limit", "tier", "units", "rate",
                                             "burst", "count", "for", "reason", "exempt"})) {
        return *std::move(refusal);
    }
    words.tier = body.contains("tier") ? body["tier"].get<std::size_t>() : 0;
    const auto found = std::find(kKeyActionNames.begin(), kKeyActionNames.end(), action);
    if (found == kKeyActionNames.end() || *found == "show" || *found == "unban") {
        return change_setting(action, words, body, request, services);
    }
    words.action = static_cast<KeyAction>(found - kKeyActionNames.begin());
    std::string units;
    if (words.action == KeyAction::Grant) {
        const bool is_text = read_text(body, "units", units);
        const std::optional<std::uint64_t> read = is_text ? read_units(units) : std::nullopt;
        if (!read) {
            return problem_response(
                422, "nothing to grant",
                "`units` is how many, such as 200, 4K or 64KiB; found `" + units + "`");
        }
        words.units = *read;
    }
    return ask_key(words, request, services);
}

}  // namespace sluice
