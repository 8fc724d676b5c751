#pragma once
#include "lib/base/bytes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// Keys that protect the Initials of one side: AES-128-GCM, and AES-128 for the header.
struct InitialKeys {
    std::array<std::byte, 16> key;
    std::array<std::byte, 12> iv;
    std::array<std::byte, 16> header;
};

enum class QuicSide : std::uint8_t { Client, Server };

// Keys from the Destination Connection ID of the client's first Initial (after a Retry: of its
// first one behind that) by RFC 9001, section 5.2, and RFC 9369, section 3.3. The version is a
// known one and the id has at most 20 bytes. Everybody on the path can do so: this hides nothing,
// it proves that somebody meant to speak QUIC. Two microseconds.
[[nodiscard]] InitialKeys derive_initial_keys(std::uint32_t version, ByteView dcid,
                                              QuicSide side) noexcept;

}  // namespace sluice
