#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/tls/hello_read.hpp"
#include "lib/l7/tls/server_name.hpp"

#include <cstddef>
#include <cstdint>

// ClientHello: RFC 8446, section 4.1.2, which holds for all versions since SSL 3.0.
namespace sluice {

inline constexpr std::uint8_t kClientHelloType = 1;
// The four bytes before a handshake message: its type and its length.
inline constexpr std::size_t kHandshakeHeader = 4;
// The longest hello that is read, with these four. Hellos with post-quantum key shares and ECH
// have 2 KiB; OpenSSL takes 128 KiB.
inline constexpr std::size_t kMaxHello = 65'536;

inline constexpr std::uint16_t kServerNameExtension = 0;
inline constexpr std::uint16_t kSignatureAlgorithmsExtension = 13;
inline constexpr std::uint16_t kAlpnExtension = 16;
inline constexpr std::uint16_t kSupportedVersionsExtension = 43;

// Values that stand for none, which clients sprinkle in so that servers bear unknown ones (RFC
// 8701).
[[nodiscard]] constexpr bool is_grease(std::uint16_t value) noexcept {
    return (value & 0x0F0F) == 0x0A0A && (value >> 8) == (value & 0xFF);
}

// The contents of a hello. The views are of the bytes it was read from, lists without their
// lengths; absent and empty look alike where no flag tells them apart.
struct ClientHello {
    std::uint16_t legacy_version = 0;
    // The highest of supported_versions, GREASE aside; legacy_version where there is none.
    std::uint16_t version = 0;
    bool has_server_name = false;
    ServerName server_name;

    ByteView session_id;
    ByteView cipher_suites;         // of two bytes each
    ByteView extensions;            // type, length, content, of all of them
    ByteView signature_algorithms;  // of two bytes each
    ByteView alpn;                  // the first protocol

    void clear() noexcept;
};

// The bytes of a handshake from its beginning on, without records, as QUIC carries them. `hello` is
// good when the outcome is Whole. Whether it follows a HelloRetryRequest, it does not tell.
[[nodiscard]] HelloRead read_client_hello(ByteView handshake, ClientHello& hello) noexcept;

// Type and length alone, as far as they are there: Whole means that a hello begins here, which ends
// at `at` if all of it comes.
[[nodiscard]] HelloRead read_handshake_header(ByteView handshake) noexcept;

}  // namespace sluice
