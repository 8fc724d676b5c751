#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice {

// The way by which a request has its role: a Unix socket, the token of the API by TCP, a session,
// or the headers of a trusted proxy.
enum class Way : std::uint8_t { Unix, Api, Session, Proxy };
inline constexpr auto kWayNames =
    std::to_array<std::string_view>({"unix", "api", "session", "proxy"});

[[nodiscard]] constexpr std::string_view name_of(Way way) noexcept {
    return kWayNames[static_cast<std::size_t>(way)];
}

}  // namespace sluice
