#pragma once
#include <nlohmann/json.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>

namespace sluice {

// A number of a document that T has room for. None: it has a fraction, an exponent, or is beyond T;
// the reader's own conversion of such a one is undefined.
template <std::integral T>
[[nodiscard]] std::optional<T> whole_number(const nlohmann::json& number) {
    if (number.is_number_unsigned()) {
        const auto value = number.get<std::uint64_t>();
        return std::in_range<T>(value) ? std::optional{static_cast<T>(value)} : std::nullopt;
    }
    if (number.is_number_integer()) {
        const auto value = number.get<std::int64_t>();
        return std::in_range<T>(value) ? std::optional{static_cast<T>(value)} : std::nullopt;
    }
    return std::nullopt;
}

// The same; throws where it is none.
template <std::integral T>
[[nodiscard]] T whole_number_in(const nlohmann::json& number) {
    if (const std::optional<T> whole = whole_number<T>(number)) {
        return *whole;
    }
    throw std::runtime_error("a number in it is none that fits");
}

}  // namespace sluice
