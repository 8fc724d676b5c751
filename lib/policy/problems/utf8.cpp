#include "lib/policy/problems/utf8.hpp"

namespace sluice {
namespace {

// The range of second bytes: narrower where a longer sequence would spell a shorter one's
// character, a surrogate, or one past U+10FFFF.
struct Second {
    unsigned char least = 0x80;
    unsigned char most = 0xBF;
};

Second second_after(unsigned char lead) noexcept {
    switch (lead) {
        case 0xE0:
            return {.least = 0xA0};
        case 0xED:
            return {.most = 0x9F};
        case 0xF0:
            return {.least = 0x90};
        case 0xF4:
            return {.most = 0x8F};
        default:
            return {};
    }
}

std::size_t length_after(unsigned char lead) noexcept {
    if (lead < 0x80) {
        return 1;
    }
    if (lead < 0xC2 || lead >= 0xF5) {
        return 0;
    }
    return lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

}  // namespace

std::size_t utf8_length(std::string_view text) noexcept {
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t length = length_after(lead);
    if (length <= 1 || length > text.size()) {
        return length == 1 ? 1 : 0;
    }
    const Second allowed = second_after(lead);
    const auto second = static_cast<unsigned char>(text[1]);
    if (second < allowed.least || second > allowed.most) {
        return 0;
    }
    for (std::size_t i = 2; i < length; ++i) {
        if (!is_utf8_continuation(text[i])) {
            return 0;
        }
    }
    return length;
}

bool starts_with_control(std::string_view text) noexcept {
    if (is_control(text.front())) {
        return true;
    }
    return text.size() > 1 && text[0] == '\xC2' && static_cast<unsigned char>(text[1]) < 0xA0;
}

}  // namespace sluice
