#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/http1/byte_blocks.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

// Small questions about texts of a head.
namespace sluice::http1 {

// A text that a request does not have; an empty one that it has lies somewhere.
[[nodiscard]] constexpr bool is_present(ByteView text) noexcept {
    return text.data() != nullptr;
}

[[nodiscard]] inline std::string_view as_text(ByteView bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Without what `is_left_out` on either side.
template <typename Predicate>
[[nodiscard]] constexpr ByteView trimmed(ByteView text, Predicate&& is_left_out) noexcept {
    const std::byte* begin = text.data();
    const std::byte* end = begin + text.size();
    while (begin != end && is_left_out(*begin)) {
        ++begin;
    }
    while (begin != end && is_left_out(end[-1])) {
        --end;
    }
    return {begin, end};
}
[[nodiscard]] constexpr ByteView without_blanks(ByteView text) noexcept {
    return trimmed(text, is_blank);
}

// `lower` is in lower case.
[[nodiscard]] constexpr bool equals_ignoring_case(ByteView text, std::string_view lower) noexcept {
    if (text.size() != lower.size()) {
        return false;
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (to_lower(text[i]) != static_cast<std::byte>(lower[i])) {
            return false;
        }
    }
    return true;
}

// A word in lower case, at most a block, as equals_ignoring_case() compares it.
class LowerWord {
public:
    consteval LowerWord(std::string_view word) noexcept : size_{word.size()} {
        for (std::size_t i = 0; i < word.size(); ++i) {
            bytes_[i] = word[i];
        }
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] Block block() const noexcept {
        return _mm256_load_si256(reinterpret_cast<const __m256i*>(bytes_.data()));
    }

private:
    alignas(kBlock) std::array<char, kBlock> bytes_{};
    std::size_t size_;
};
[[nodiscard]] inline bool equals_ignoring_case(const ReadableText& text,
                                               const LowerWord& word) noexcept {
    if (text.size() != word.size()) {
        return false;
    }
    const Block own = lower_block(first_bytes(text.load(0), text.size()));
    const Block differs = _mm256_xor_si256(own, word.block());
    return _mm256_testz_si256(differs, differs) != 0;
}

// Calls visit(part) for what stands between separators, blanks around it left out; one part at
// least.
template <typename Visit>
void for_each_part(const ReadableText& list, char separator, Visit&& visit) noexcept {
    std::size_t begin = 0;
    for (std::size_t at = 0; at < list.size(); at += kBlock) {
        std::uint32_t ends = equal_mask(list.load(at), separator) & list.bits_within(at);
        for (; ends != 0; ends &= ends - 1) {
            const std::size_t end = at + static_cast<std::size_t>(std::countr_zero(ends));
            visit(without_blanks(list.bytes().subspan(begin, end - begin)));
            begin = end + 1;
        }
    }
    visit(without_blanks(list.bytes().subspan(begin)));
}

}  // namespace sluice::http1
