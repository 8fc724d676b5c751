#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace sluice {

// How far a rule or a service acts: not at all, by counting alone, or on packets.
enum class Mode : std::uint8_t { Off, Monitor, Enforce };
inline constexpr auto kModeNames = std::to_array<std::string_view>({"off", "monitor", "enforce"});

}  // namespace sluice
