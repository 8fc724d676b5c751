#include "lib/bucket/hash/cluster_secret.hpp"

#include <cstddef>
#include <span>

namespace sluice {
namespace {

constexpr std::size_t kDigits = 32;

std::optional<unsigned> hex_digit(char digit) noexcept {
    constexpr std::string_view kHex = "0123456789abcdef";
    const char lower = digit >= 'A' && digit <= 'F' ? static_cast<char>(digit - 'A' + 'a') : digit;
    const std::size_t value = kHex.find(lower);
    return value == std::string_view::npos ? std::nullopt
                                           : std::optional{static_cast<unsigned>(value)};
}

}  // namespace

std::optional<HashSecret> read_secret_digits(std::string_view text) noexcept {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) {
        text.remove_suffix(1);
    }
    if (text.size() != kDigits) {
        return std::nullopt;
    }
    HashSecret secret{};
    for (std::size_t i = 0; i < kDigits; ++i) {
        const std::optional<unsigned> digit = hex_digit(text[i]);
        if (!digit) {
            return std::nullopt;
        }
        std::uint64_t& half = secret[i / 16];
        half = half << 4 | *digit;
    }
    return secret;
}

std::uint64_t digest_of_secret(const HashSecret& secret) noexcept {
    constexpr std::string_view kAsked = "sluice cluster secret";  // no key has such a name
    return siphash_1_3(secret, std::as_bytes(std::span{kAsked}));
}

}  // namespace sluice
