#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/http1/byte_blocks.hpp"

#include <cstddef>
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

// Calls visit(part) for what stands between separators, blanks around it left out; one part at
// least.
template <typename Visit>
void for_each_part(const ReadableText& list, char separator, Visit&& visit) noexcept {
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = find_byte(list, begin, separator);
        visit(without_blanks(list.bytes().subspan(begin, end - begin)));
        begin = end + 1;
    }
}

}  // namespace sluice::http1
