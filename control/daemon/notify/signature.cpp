#include "control/daemon/notify/signature.hpp"

#include "lib/l7/crypto/sha256.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace sluice {
namespace {

constexpr std::size_t kBlock = 64;  // of SHA-256

ByteView bytes_of(std::string_view text) {
    return std::as_bytes(std::span{text});
}

// The key with the pad over it, and what is hashed behind it.
std::string padded(std::string_view key, unsigned char pad, std::string_view message) {
    std::string text(kBlock, static_cast<char>(pad));
    for (std::size_t i = 0; i < key.size(); ++i) {
        text[i] = static_cast<char>(static_cast<unsigned char>(key[i]) ^ pad);
    }
    return text.append(message);
}

std::string digest_text(std::string_view text) {
    const Sha256Digest digest = sha256(bytes_of(text));
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// RFC 2104, for messages of any length, which the one of lib/l7 is not.
std::string hmac(std::string_view secret, std::string_view message) {
    const std::string key = secret.size() > kBlock ? digest_text(secret) : std::string{secret};
    return digest_text(padded(key, 0x5C, digest_text(padded(key, 0x36, message))));
}

}  // namespace

std::string signature_of(std::string_view secret, std::int64_t utc, std::string_view body) {
    std::string hex;
    for (const char byte : hmac(secret, fmt::format("{}.{}", utc, body))) {
        hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    }
    return fmt::format("t={},v1={}", utc, hex);
}

}  // namespace sluice
