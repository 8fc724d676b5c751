#pragma once
#include "control/daemon/api/api.hpp"
#include "control/json.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

// Words shared by the calls about single keys.
namespace sluice {

// The words of a request.
struct KeyWords {
    std::string rule;
    std::string key;
    std::size_t tier = 0;  // 0: none given
    std::string limit;
    KeyAction action = KeyAction::Show;
    std::uint64_t units = 0;
    bool or_network = false;   // a network of keys will do, as for bans
    bool for_cluster = false;  // on all boxes of the cluster
};

// A key of the rules that run, found.
struct FoundKey {
    AskKey ask;
    std::string text;  // in one spelling
    const RuleSummary* rule = nullptr;
    bool is_network = false;  // of keys, which has no bucket of its own
};

using Found = std::variant<FoundKey, HttpResponse>;

// The answer about buckets of a rule that is off, or has ended: there are none.
[[nodiscard]] HttpResponse rule_is_off();

[[nodiscard]] Found find_key(const KeyWords& words, const RuleView& view);

// The key's limit that the boxes of a cluster count together, of those that the words are about;
// nullptr: there is none.
[[nodiscard]] const LimitSummary* limit_of_cluster(const FoundKey& key);

// A member that must be text where it is given. False: it is something else.
[[nodiscard]] bool read_text(const Json& body, const char* name, std::string& text);
// False if it has a `tier` that is no number from 1 on.
[[nodiscard]] inline bool may_name_tier(const Json& body) {
    return !body.contains("tier") ||
           (body["tier"].is_number_unsigned() && body["tier"].get<std::size_t>() != 0);
}

// The answer about a key: what its buckets hold, and what is set for it.
[[nodiscard]] Json key_state_json(const FoundKey& found, const KeyState& state,
                                  const RuleView& view);

// The settings of a key that have not ended.
[[nodiscard]] Json settings_json(const std::string& rule, const std::string& key, std::size_t tier,
                                 const KeySettings& settings);

// Sets and unsets numbers, `exempt` and bans: `action` is set, unset, ban or unban, and `body` has
// what belongs to it.
[[nodiscard]] HttpResponse change_setting(const std::string& action, const KeyWords& words,
                                          const Json& body, const HttpRequest& request,
                                          Services& services);

}  // namespace sluice
