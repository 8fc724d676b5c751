#pragma once
#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice {

// The number that is the whole text, in digits of this base; nullopt: it is none, or too large.
template <std::unsigned_integral Number = std::uint64_t>
[[nodiscard]] std::optional<Number> whole_number(std::string_view text, int base = 10) noexcept {
    Number number = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, number, base);
    return error == std::errc{} && end == last ? std::optional{number} : std::nullopt;
}

}  // namespace sluice
