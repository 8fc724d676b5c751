#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

// A country code of two letters (ISO 3166-1 alpha-2, and what databases have beside it, such as EU)
// as a number from 1 to kMaxCountry: AA is 1, AB 2. 0: none.
inline constexpr std::uint16_t kMaxCountry = 26 * 26;

// 0: it is no two letters from A to Z.
[[nodiscard]] constexpr std::uint16_t country_number(std::string_view code) noexcept {
    const auto is_letter = [](char c) { return c >= 'A' && c <= 'Z'; };
    if (code.size() != 2 || !is_letter(code[0]) || !is_letter(code[1])) {
        return 0;
    }
    return static_cast<std::uint16_t>((code[0] - 'A') * 26 + (code[1] - 'A') + 1);
}

// The letters of a number from 1 to kMaxCountry; else empty.
[[nodiscard]] inline std::string country_text(std::uint16_t number) {
    if (number == 0 || number > kMaxCountry) {
        return {};
    }
    return {static_cast<char>('A' + (number - 1) / 26), static_cast<char>('A' + (number - 1) % 26)};
}

}  // namespace sluice
