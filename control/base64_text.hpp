#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// The bytes of a text in base64 (RFC 4648 4), padded and in one line. nullopt: it is none, or one
// that another text stands for as well.
[[nodiscard]] std::optional<std::vector<std::byte>> bytes_of_base64(std::string_view text);
// The text of bytes, likewise.
[[nodiscard]] std::string base64_text(std::string_view bytes);

}  // namespace sluice
