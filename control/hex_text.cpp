#include "control/hex_text.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

// 16: it is none.
std::size_t digit(char c) {
    const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    return std::min(kDigits.find(lower), kDigits.size());
}

}  // namespace

std::string hex_text(ByteView bytes) {
    std::string text;
    text.reserve(2 * bytes.size());
    for (const std::byte byte : bytes) {
        text += kDigits[std::to_integer<unsigned>(byte) >> 4];
        text += kDigits[std::to_integer<unsigned>(byte) & 0xF];
    }
    return text;
}

std::optional<std::vector<std::byte>> bytes_of_hex(std::string_view text) {
    std::vector<std::byte> bytes;
    bytes.reserve(text.size() / 2);
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        const std::size_t high = digit(text[i]);
        const std::size_t low = digit(text[i + 1]);
        if (high == kDigits.size() || low == kDigits.size()) {
            return std::nullopt;
        }
        bytes.push_back(static_cast<std::byte>(high << 4 | low));
    }
    return text.size() % 2 == 0 ? std::optional{std::move(bytes)} : std::nullopt;
}

}  // namespace sluice
