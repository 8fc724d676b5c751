#pragma once
#include "control/daemon/api/key_words.hpp"

#include <string>

// Bans of networks that a key lies in: its own calls show and refuse by them.
namespace sluice {

// [{"key":"192.0.2.0/24","source":"operator","left_s":…,"until":…,"reason":…}]: those that hold, by
// operators and by override files, the narrowest first.
[[nodiscard]] Json networks_json(const FoundKey& found, const RuleView& view);

// "192.0.2.0/24 (operator, because: abuse)"; of several, one behind the other.
[[nodiscard]] std::string text_of_networks(const Json& networks);

}  // namespace sluice
