#pragma once
#include "lib/l7/tls/tls_stream.hpp"

// Records that a client sends behind its first ClientHello.
namespace sluice {

inline constexpr std::byte kChangeCipherSpec{20};
inline constexpr std::byte kAlert{21};
inline constexpr std::byte kHandshake{22};
inline constexpr std::byte kApplicationData{23};
inline constexpr std::byte kMajorVersion{3};

// Kinds of record that may stand before a second hello without early data.
[[nodiscard]] constexpr bool may_be_of_handshake(std::byte kind) noexcept {
    return kind == kHandshake || kind == kChangeCipherSpec || kind == kAlert;
}
// An alert of two bytes: servers go on behind some. The header of the record is there.
[[nodiscard]] bool is_alert_in_clear(ByteView record) noexcept;
// Records of change_cipher_spec at the beginning, which have one byte each, in bytes.
[[nodiscard]] std::size_t cipher_changes(ByteView bytes) noexcept;
// Handshake records without content at the beginning, in bytes: servers go on behind some.
[[nodiscard]] std::size_t empty_records(ByteView bytes) noexcept;

// `read` is what read_tls_stream() made of handshake records behind a change of cipher spec that
// begin as a hello does. One of 256 encrypted Finished messages begins so, and one of 32,768 has a
// length too that a server takes: they are a hello until a record tells otherwise. NotTls: they are
// ciphertext, and so is all that follows.
[[nodiscard]] HelloRead tell_from_ciphertext(const HelloRead& read, ByteView bytes) noexcept;

}  // namespace sluice
