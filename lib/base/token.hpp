#pragma once
#include "lib/base/ascii.hpp"

#include <algorithm>
#include <string_view>

namespace sluice {

// Beside letters and digits.
inline constexpr std::string_view kTokenMarks = "!#$%&'*+-.^_`|~";

// A token (RFC 9110, 5.6.2): what names of headers and cookies, and methods, are.
[[nodiscard]] constexpr bool is_token(std::string_view text) noexcept {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return is_ascii_alphanumeric(c) || kTokenMarks.find(c) != std::string_view::npos;
    });
}

}  // namespace sluice
