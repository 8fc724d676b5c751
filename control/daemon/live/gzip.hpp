#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// The text as gzip has it (RFC 1952), at the level that costs little; nullopt: there is no memory.
[[nodiscard]] std::optional<std::string> gzip(std::string_view text);

}  // namespace sluice
