#include "lib/l7/crypto/sha256.hpp"

#include "lib/base/check.hpp"

#include <algorithm>

#include <openssl/sha.h>

namespace sluice {
namespace {

constexpr std::size_t kSha256Block = 64;
using Block = std::array<std::byte, kSha256Block + kMaxHmacMessage>;

// The padded key, and a message behind it.
ByteView keyed_block(ByteView key, std::byte pad, ByteView message, Block& block) noexcept {
    std::fill_n(block.begin(), kSha256Block, pad);
    for (std::size_t i = 0; i < key.size(); ++i) {
        block[i] ^= key[i];
    }
    std::copy(message.begin(), message.end(), block.begin() + kSha256Block);
    return ByteView{block}.first(kSha256Block + message.size());
}

}  // namespace

// The EVP interface of OpenSSL 3.0 allocates whenever a digest begins, whatever context it is given
// (tests/unit/l7/no_allocation_test.cpp would see it). These functions never do, cost less, and
// cannot fail; OpenSSL 3 has them and calls them deprecated.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
Sha256Digest sha256(ByteView bytes) noexcept {
    SHA256_CTX context;
    Sha256Digest digest;
    (void)SHA256_Init(&context);
    (void)SHA256_Update(&context, bytes.data(), bytes.size());
    (void)SHA256_Final(reinterpret_cast<unsigned char*>(digest.data()), &context);
    return digest;
}
#pragma GCC diagnostic pop

Sha256Digest hmac_sha256(ByteView key, ByteView message) noexcept {
    SLUICE_CHECK(key.size() <= kMaxHmacKey && message.size() <= kMaxHmacMessage);
    Block block{};
    const Sha256Digest inner = sha256(keyed_block(key, std::byte{0x36}, message, block));
    return sha256(keyed_block(key, std::byte{0x5C}, inner, block));
}

}  // namespace sluice
