#pragma once
#include <algorithm>
#include <string>
#include <string_view>

namespace sluice {

// With the letters A to Z in small, or a to z in capitals; other bytes stay.
[[nodiscard]] inline std::string lowered(std::string_view text) {
    std::string out{text};
    std::transform(out.begin(), out.end(), out.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    });
    return out;
}
[[nodiscard]] inline std::string raised(std::string_view text) {
    std::string out{text};
    std::transform(out.begin(), out.end(), out.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c;
    });
    return out;
}

}  // namespace sluice
