#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/result.hpp"
#include "lib/l7/crypto/cipher_context.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// An Initial of a server before it is protected: header, packet number and frames in clear, and
// room for the tag behind them. Number, frames and tag have 20 bytes at least (RFC 9001, 5.4.2).
struct PlainInitial {
    std::uint32_t version = 0;  // a known one
    ByteView client_dcid;       // of the client's first Initial: the keys come from it
    MutableBytes packet;
    std::size_t number_at = 0;  // whose size the first byte says
};

// Protects a server's Initials (RFC 9001, section 5). The contexts are made once and keyed anew for
// each packet: nothing is allocated after make(). One per worker.
class InitialSealer {
public:
    // NotSupported: OpenSSL lacks AES-128-ECB or AES-128-GCM.
    [[nodiscard]] static Result<InitialSealer> make();

    // In place. False: OpenSSL refused, and the packet is of no use.
    [[nodiscard]] bool seal(const PlainInitial& initial) noexcept;

private:
    InitialSealer(CipherContext header, CipherContext payload);
    [[nodiscard]] bool use_keys(const PlainInitial& initial) noexcept;
    [[nodiscard]] bool encrypt(MutableBytes packet, std::size_t header) noexcept;
    [[nodiscard]] bool mask_header(MutableBytes packet, std::size_t number_at) noexcept;

    CipherContext header_;
    CipherContext payload_;
};

}  // namespace sluice
