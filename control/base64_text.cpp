#include "control/base64_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace sluice {
namespace {

constexpr std::string_view kSymbols =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoSymbol = 64;

constexpr std::array<std::uint8_t, 256> kValues = [] {
    std::array<std::uint8_t, 256> values{};
    values.fill(kNoSymbol);
    for (std::size_t i = 0; i < kSymbols.size(); ++i) {
        values[static_cast<unsigned char>(kSymbols[i])] = static_cast<std::uint8_t>(i);
    }
    return values;
}();

}  // namespace

std::optional<std::vector<std::byte>> bytes_of_base64(std::string_view text) {
    if (text.size() % 4 != 0) {
        return std::nullopt;
    }
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    text.remove_suffix(padding);
    std::vector<std::byte> bytes;
    bytes.reserve(text.size() / 4 * 3 + 2);
    std::uint32_t held = 0;  // bits that are no byte yet, the lowest
    unsigned count = 0;      // of them
    for (const char symbol : text) {
        const std::uint8_t value = kValues[static_cast<unsigned char>(symbol)];
        if (value == kNoSymbol) {
            return std::nullopt;
        }
        held = (held << 6 | value) & 0xFFFF;
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes.push_back(static_cast<std::byte>(held >> count & 0xFF));
        }
    }
    const bool is_only = (held & ((1U << count) - 1)) == 0 && count == padding * 2;
    return is_only ? std::optional{std::move(bytes)} : std::nullopt;
}

std::string base64_text(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        std::uint32_t held = 0;  // three bytes, the missing ones as zeros
        for (std::size_t i = 0; i < 3; ++i) {
            held = held << 8 |
                   (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
        }
        const std::size_t symbols = std::min<std::size_t>(bytes.size() - at, 3) + 1;
        for (std::size_t i = 0; i < 4; ++i) {
            text += i < symbols ? kSymbols[held >> (18 - 6 * i) & 63] : '=';
        }
    }
    return text;
}

}  // namespace sluice
