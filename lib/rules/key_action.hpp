#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace sluice {

// Actions on the buckets of one key of a rule.
enum class KeyAction : std::uint8_t {
    Show,     // changes nothing
    Reset,    // forgets what the key owes, its refusals and its ban
    Grant,    // gives units back, at most as many as are missing
    Unban,    // lets it out of the penalty box
    Forgive,  // lets it owe no more than a fresh bucket has
};
inline constexpr auto kKeyActionNames =
    std::to_array<std::string_view>({"show", "reset", "grant", "unban", "forgive"});

}  // namespace sluice
