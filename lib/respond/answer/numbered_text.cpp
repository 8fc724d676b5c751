#include "lib/respond/answer/numbered_text.hpp"

#include "lib/respond/answer/byte_writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace sluice {
namespace {

// An Integer of a structured field has at most so many digits (RFC 9651, 3.3.1).
constexpr std::size_t kMostDigits = 15;
constexpr std::uint64_t kMostNumber = 999'999'999'999'999;

std::uint64_t value_of(const QuotaNumbers& numbers, NumberedText::Number which) noexcept {
    switch (which) {
        case NumberedText::Number::Quota:
            return numbers.quota;
        case NumberedText::Number::Remaining:
            return numbers.remaining;
        case NumberedText::Number::Window:
            return numbers.window;
        default:
            return numbers.retry_after;
    }
}

bool is_there(const QuotaNumbers& numbers, NumberedText::Number which) noexcept {
    if (which == NumberedText::Number::Window) {
        return numbers.window != 0;
    }
    return which != NumberedText::Number::RetryAfter || numbers.retry_after != QuotaNumbers::kNever;
}

void write_number(ByteWriter& out, std::uint64_t value) noexcept {
    std::array<char, kMostDigits> digits;
    const char* const end =
        std::to_chars(digits.data(), digits.data() + digits.size(), std::min(value, kMostNumber))
            .ptr;
    out.text({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

}  // namespace

void NumberedText::add(std::string_view text, Number number) {
    text_ += text;
    pieces_.push_back({.end = text_.size(), .only_with = number, .number = number});
    max_size_ += text.size() + (number == Number::None ? 0 : kMostDigits);
}

void NumberedText::add_with(Number number, std::string_view text) {
    text_ += text;
    pieces_.push_back({.end = text_.size(), .only_with = number});
    max_size_ += text.size();
}

std::size_t NumberedText::write(const QuotaNumbers& numbers, MutableBytes to) const noexcept {
    const std::string_view text = text_;
    ByteWriter out{to};
    std::size_t at = 0;
    for (const Piece& piece : pieces_) {
        if (is_there(numbers, piece.only_with)) {
            out.text(text.substr(at, piece.end - at));
            if (piece.number != Number::None) {
                write_number(out, value_of(numbers, piece.number));
            }
        }
        at = piece.end;
    }
    return out.at();
}

}  // namespace sluice
