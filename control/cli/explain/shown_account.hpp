#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

// An account_text() as standard output has it: below the number of its packet, its headings bold.
[[nodiscard]] std::string shown_account(std::uint64_t packet, std::string_view account);

}  // namespace sluice
