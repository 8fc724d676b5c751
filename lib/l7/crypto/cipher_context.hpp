#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

struct evp_cipher_ctx_st;

namespace sluice {

struct FreeCipherContext {
    void operator()(evp_cipher_ctx_st* context) const noexcept;
};
using CipherContext = std::unique_ptr<evp_cipher_ctx_st, FreeCipherContext>;

enum class CipherUse : std::uint8_t { Encrypt, Decrypt };

// A context for a cipher by OpenSSL's name of it, without padding, to which keys come later; null
// where OpenSSL lacks it. openssl.cnf is not read: what it says is for programs that talk TLS.
[[nodiscard]] CipherContext new_cipher_context(const char* name, CipherUse use);

// Bytes as OpenSSL has them.
[[nodiscard]] inline const unsigned char* octets(const std::byte* bytes) noexcept {
    return reinterpret_cast<const unsigned char*>(bytes);
}
[[nodiscard]] inline unsigned char* octets(std::byte* bytes) noexcept {
    return reinterpret_cast<unsigned char*>(bytes);
}

}  // namespace sluice
