#pragma once
#include "lib/base/bytes.hpp"
#include "lib/respond/answer/quota_numbers.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// A text with places for numbers, whose size has a bound that is known when it is put together.
class NumberedText {
public:
    enum class Number : std::uint8_t { None, Quota, Remaining, Window, RetryAfter };

    // `text`, then the number. Both are left out where `number` is Window and the window is 0, or
    // RetryAfter and it is kNever.
    void add(std::string_view text, Number number = Number::None);
    // `text` only where this number is there.
    void add_with(Number number, std::string_view text);

    // The size with any numbers.
    [[nodiscard]] std::size_t max_size() const noexcept { return max_size_; }
    // Returns the size; `to` has max_size().
    [[nodiscard]] std::size_t write(const QuotaNumbers& numbers, MutableBytes to) const noexcept;

private:
    struct Piece {
        std::size_t end = 0;  // in text_, where the next one begins
        Number only_with = Number::None;
        Number number = Number::None;
    };

    std::string text_;
    std::vector<Piece> pieces_;
    std::size_t max_size_ = 0;
};

}  // namespace sluice
