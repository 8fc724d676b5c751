#pragma once
#include <cstdint>
#include <string>

namespace sluice {

// The two largest units that matter: "12s", "94m36s", "27h05m", "12d03h".
[[nodiscard]] std::string duration_text(std::uint64_t seconds);

// Three digits and a unit below a minute: "350 us", "99.9 ms", "1.5 s"; else as duration_text().
[[nodiscard]] std::string time_text(std::int64_t nanoseconds);

}  // namespace sluice
