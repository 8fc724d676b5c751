#pragma once
#include "control/daemon/api/change.hpp"
#include "control/daemon/api/key_words.hpp"

#include <cstddef>
#include <string>
#include <string_view>

// Words shared by the calls that set something for single keys.
namespace sluice {

// The setting for a key by `action`, set or ban. An Error says what is wrong with the body; a
// number that the limit does not take is found out when the rules are compiled.
[[nodiscard]] Result<KeySetting> read_setting(std::string_view action, const Json& body,
                                              const FoundKey& found);

// `reason` of a body, as it stands where there is none; an Error says what is wrong with it.
[[nodiscard]] Result<Done> read_reason(const Json& body, std::string& reason);

// For the audit: "1: rate 5/s (contract 17)".
[[nodiscard]] std::string text_with_reason(const KeySetting& setting);

[[nodiscard]] HttpResponse refused_setting(const Refusal& refusal);

// Counts numbers that were refused for a rule with `dynamic`.
void note_refused_set(Services& services, const RuleSummary& rule);

// A bucket is brought under its key's numbers when it is looked at: at once after a change, so that
// none is forgotten before. True if a worker says that the key is exempt.
bool look_at(const FoundKey& key, const RuleChange& change, Services& services);

// Outcome of letting a key out of the workers' penalty boxes.
struct Lifted {
    std::size_t workers = 0;     // on which it was banned
    std::size_t unanswered = 0;  // of which nothing is known
};
[[nodiscard]] Lifted lift(const FoundKey& key, Services& services);

}  // namespace sluice
