#pragma once
#include "control/daemon/api/api.hpp"
#include "control/json.hpp"

#include <optional>
#include <string>
#include <variant>

namespace sluice {

// What all calls that change the rules share.

// The rule file that comes with a request, as its body or, with lists beside it, as a form; or what
// is wrong with it.
[[nodiscard]] std::variant<RuleFile, HttpResponse> rule_file_of(const HttpRequest& request);
// The answer to a change that was refused.
[[nodiscard]] HttpResponse refused(const Refusal& refusal);
// Its caller, and how it ended.
void record(Services& services, const HttpRequest& request, const std::string& call,
            const RuleChange& change);
// {"generation":…,"rules":…,"warnings":[…],"unconfirmed":…,"panic":…}; panic is null where the
// dataplane does not say.
[[nodiscard]] HttpResponse changed(const RuleChange& change, Services& services);

// {"key":…,"tier":…,"set":"1: rate 5/s","until":"2026-…Z","reason":…,"by":…}
[[nodiscard]] Json setting_json(const KeySetting& setting);
// By the wall clock; it is forgotten with the next change.
[[nodiscard]] bool has_ended(const KeySetting& setting);

// {"seconds_left":…,"until":"2026-…Z","goes_back_to":…}, or null when all is confirmed.
[[nodiscard]] Json unconfirmed_json(const std::optional<Unconfirmed>& unconfirmed);

}  // namespace sluice
