#pragma once
#include "control/daemon/api/api.hpp"
#include "control/daemon/author.hpp"
#include "control/daemon/rule_diff.hpp"
#include "control/json.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace sluice {

// Steps shared by all calls that change the rules.

// The rule file that comes with a request, as its body or, with lists beside it, as a form; or what
// is wrong with it.
[[nodiscard]] std::variant<RuleFile, HttpResponse> rule_file_of(const HttpRequest& request);
// How a set is to be put in force, as a request says it.
struct ChangeTerms {
    bool force = false;
    bool strict = false;
    std::optional<std::chrono::nanoseconds> confirm{};
    std::optional<std::string> in_place_of{};  // by If-Match
    std::string words{};                       // the same as options of a command, for the audit
};
[[nodiscard]] std::variant<ChangeTerms, HttpResponse> change_terms_of(const HttpRequest& request);
// The answer to a change that was refused.
[[nodiscard]] HttpResponse refused(const Refusal& refusal);
// Records the caller, and how the change ended.
void record(Services& services, const HttpRequest& request, const std::string& call,
            const RuleChange& change);
// {"generation":…,"rules":…,"warnings":[…],"unconfirmed":…,"panic":…}; panic is null where the
// dataplane does not say. With "anywhere", the ids of enforcing rules that clients can go around by
// connections that cannot be read, where there are any; with "beyond", {"ID":{"services":[…],
// "fields":[…]}} of those that reach beyond services, by these fields.
[[nodiscard]] HttpResponse changed(const RuleChange& change, Services& services);

// The user with whose rights a change is made, and the name by which it is told of later.
[[nodiscard]] Author author_of(const HttpRequest& request);
// null: they did not come by the dashboard.
[[nodiscard]] Json name_json(const std::string& name);

// {"key":…,"tier":…,"set":"1: rate 5/s","until":"2026-…Z","reason":…,"by":…}
[[nodiscard]] Json setting_json(const KeySetting& setting);
// By the wall clock; it is forgotten with the next change.
[[nodiscard]] bool has_ended(const KeySetting& setting);

// 2026-…Z, of seconds in UTC.
[[nodiscard]] std::string utc_text(std::int64_t utc);
// To the nanosecond.
[[nodiscard]] std::string utc_ns_text(std::int64_t utc_ns);
// null: never, or not known.
[[nodiscard]] Json seconds_json(std::int64_t ns);

// A rule as GET /v1/rules shows it.
[[nodiscard]] Json rule_json(const RuleView& view, std::size_t number);

// The rules that differ, limit by limit, without what keys owe.
[[nodiscard]] Json rules_changed_json(const SetDiff& diff);
// How a compiled set differs from the one in force.
[[nodiscard]] HttpResponse differences(Compiled next, Services& services);

// {"seconds_left":…,"until":"2026-…Z","goes_back_to":…}, or null when all is confirmed.
[[nodiscard]] Json unconfirmed_json(const std::optional<Unconfirmed>& unconfirmed);

}  // namespace sluice
