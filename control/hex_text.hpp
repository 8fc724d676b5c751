#pragma once
#include "lib/base/bytes.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// Two digits a byte, in lower case.
[[nodiscard]] std::string hex_text(ByteView bytes);
// nullopt: the text is not that of whole bytes.
[[nodiscard]] std::optional<std::vector<std::byte>> bytes_of_hex(std::string_view text);

}  // namespace sluice
