#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace sluice {

// The reach of a rule or a service: it does nothing, counts alone, or acts on packets.
enum class Mode : std::uint8_t { Off, Monitor, Enforce };
inline constexpr auto kModeNames = std::to_array<std::string_view>({"off", "monitor", "enforce"});

}  // namespace sluice
