#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/crypto/cipher_context.hpp"
#include "lib/l7/quic/initial_keys.hpp"

#include <array>
#include <cstddef>

// Steps common to protecting a packet and to removing that: RFC 9001, 5.3 and 5.4.
namespace sluice {

inline constexpr std::size_t kQuicTagSize = 16;
// The place of the sample, behind the beginning of the packet number.
inline constexpr std::size_t kQuicSampleAt = 4;
inline constexpr std::size_t kQuicSampleSize = 16;

// How many bytes the packet number has, by the packet's first byte without its protection.
[[nodiscard]] constexpr std::size_t quic_number_size(std::byte first) noexcept {
    return (std::to_integer<std::size_t>(first) & 3U) + 1;
}

using QuicNonce = std::array<std::byte, 12>;
// The nonce of an Initial whose number is not cut: its bytes are all of it.
[[nodiscard]] QuicNonce nonce_of(const InitialKeys& keys, ByteView number) noexcept;

// The first five bytes count: one for the packet's first byte, four for its number.
using QuicHeaderMask = std::array<std::byte, kQuicSampleSize>;
// By a context of AES-128-ECB that has its key. False: OpenSSL refused.
[[nodiscard]] bool make_header_mask(const CipherContext& context, ByteView packet,
                                    std::size_t number_at, QuicHeaderMask& mask) noexcept;

}  // namespace sluice
