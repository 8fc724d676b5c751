#pragma once
#include "control/daemon/api/key_words.hpp"
#include "lib/policy/overrides/banned_keys.hpp"

#include <string>

// Bans of networks that a key lies in: its own calls show and refuse by them.
namespace sluice {

// [{"key":"192.0.2.0/24","source":"operator","left_s":…,"until":…,"reason":…,"ends_with":…}]: those
// that hold, by operators and by override files, the narrowest first. Of a network, those around
// it. "ends_with" is how an operator ends it: "key unban sources 192.0.2.0/24".
[[nodiscard]] Json networks_json(const FoundKey& found, const RuleView& view);

// {"source":"policy","left_s":…,"until":…,"reason":…,"ends_with":…} of a file that bans the key, or
// network, itself; null: none.
[[nodiscard]] Json file_ban_json(const FoundKey& found);

// "every address of IPv4 is banned by 0.0.0.0/0", of a network that is all of them; else empty.
[[nodiscard]] std::string everybody_text(const FoundKey& found);

// The reason in the line of its file; empty: it has none.
[[nodiscard]] std::string reason_of(const BannedKey& ban);

// "192.0.2.0/24 (operator, because: abuse)"; of several, one behind the other.
[[nodiscard]] std::string text_of_networks(const Json& networks);

// The way to end all of them: "key unban sources 192.0.2.0/24 and …". `file_ban` may be null.
[[nodiscard]] std::string ends_of(const Json& file_ban, const Json& networks);

}  // namespace sluice
