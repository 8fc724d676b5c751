#pragma once
#include "lib/base/check.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace sluice {

enum class Errc : std::uint8_t {
    BadSyntax,
    OutOfRange,
    TooMany,
    Unreachable,
    Refused,
    NotSupported,
    NoMemory,
    Busy,  // for now; to be tried again
};

// Why something was refused, in words for people.
struct Error {
    Errc code{};
    std::string what;
};

// Either a T or the Error that says why not. For people, not for packets: configuration, rule
// compilation and sockets use it; the burst loop does not.
// Names follow std::expected, so C++23 replaces this class with one `using`.
template <typename T>
class [[nodiscard]] Result {
public:
    // Implicit on purpose: `return limit;` and `return Error{...};` both read well.
    constexpr Result(T value) : value_{std::move(value)} {}
    constexpr Result(Error error) noexcept : error_{std::move(error)} {}

    [[nodiscard]] constexpr bool has_value() const noexcept { return value_.has_value(); }
    constexpr explicit operator bool() const noexcept { return has_value(); }

    [[nodiscard]] constexpr const T& operator*() const& noexcept {
        SLUICE_CHECK(has_value());
        return *value_;
    }
    [[nodiscard]] constexpr T& operator*() & noexcept {
        SLUICE_CHECK(has_value());
        return *value_;
    }
    [[nodiscard]] constexpr T&& operator*() && noexcept {
        SLUICE_CHECK(has_value());
        return *std::move(value_);
    }
    [[nodiscard]] constexpr const T* operator->() const noexcept { return &**this; }
    [[nodiscard]] constexpr T* operator->() noexcept { return &**this; }
    [[nodiscard]] constexpr const Error& error() const noexcept {
        SLUICE_CHECK(!has_value());
        return error_;
    }

private:
    std::optional<T> value_;
    Error error_{};  // read only when value_ is empty
};

// The result of a function that has nothing to say but "done" or why not.
struct Done {};

}  // namespace sluice
