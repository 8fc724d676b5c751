#include "lib/l7/quic/initial_sealer.hpp"

#include "lib/base/check.hpp"
#include "lib/l7/quic/initial_keys.hpp"
#include "lib/l7/quic/packet_protection.hpp"
#include "lib/l7/quic/quic_version.hpp"

#include <array>

#include <openssl/evp.h>

namespace sluice {

InitialSealer::InitialSealer(CipherContext header, CipherContext payload)
    : header_{std::move(header)}, payload_{std::move(payload)} {}

Result<InitialSealer> InitialSealer::make() {
    CipherContext header = new_cipher_context("AES-128-ECB", CipherUse::Encrypt);
    CipherContext payload = new_cipher_context("AES-128-GCM", CipherUse::Encrypt);
    if (!header || !payload) {
        return Error{Errc::NotSupported, "OpenSSL has no AES-128-GCM or no AES-128-ECB"};
    }
    InitialSealer sealer{std::move(header), std::move(payload)};
    // Work that OpenSSL puts off until the first use is done here.
    std::array<std::byte, 64> zeroes{};
    (void)sealer.seal({.version = kQuicV1, .client_dcid = {}, .packet = zeroes, .number_at = 8});
    return sealer;
}

bool InitialSealer::seal(const PlainInitial& initial) noexcept {
    const std::size_t number = quic_number_size(initial.packet[0]);
    SLUICE_CHECK(initial.number_at + kQuicSampleAt + kQuicSampleSize <= initial.packet.size());
    return use_keys(initial) && encrypt(initial.packet, initial.number_at + number) &&
           mask_header(initial.packet, initial.number_at);
}

bool InitialSealer::use_keys(const PlainInitial& initial) noexcept {
    const InitialKeys keys =
        derive_initial_keys(initial.version, initial.client_dcid, QuicSide::Server);
    const QuicNonce nonce = nonce_of(
        keys, initial.packet.subspan(initial.number_at, quic_number_size(initial.packet[0])));
    return EVP_EncryptInit_ex2(header_.get(), nullptr, octets(keys.header.data()), nullptr,
                               nullptr) == 1 &&
           EVP_EncryptInit_ex2(payload_.get(), nullptr, octets(keys.key.data()),
                               octets(nonce.data()), nullptr) == 1;
}

// The header in clear is what the tag covers besides the frames.
bool InitialSealer::encrypt(MutableBytes packet, std::size_t header) noexcept {
    const MutableBytes text = packet.subspan(header, packet.size() - header - kQuicTagSize);
    std::byte* const tag = packet.data() + packet.size() - kQuicTagSize;
    int size = 0;
    return EVP_EncryptUpdate(payload_.get(), nullptr, &size, octets(packet.data()),
                             static_cast<int>(header)) == 1 &&
           EVP_EncryptUpdate(payload_.get(), octets(text.data()), &size, octets(text.data()),
                             static_cast<int>(text.size())) == 1 &&
           EVP_EncryptFinal_ex(payload_.get(), octets(tag), &size) == 1 &&
           EVP_CIPHER_CTX_ctrl(payload_.get(), EVP_CTRL_AEAD_GET_TAG, kQuicTagSize, tag) == 1;
}

bool InitialSealer::mask_header(MutableBytes packet, std::size_t number_at) noexcept {
    const std::size_t number = quic_number_size(packet[0]);
    QuicHeaderMask mask;
    if (!make_header_mask(header_, packet, number_at, mask)) {
        return false;
    }
    packet[0] ^= mask[0] & std::byte{0x0F};
    for (std::size_t i = 0; i < number; ++i) {
        packet[number_at + i] ^= mask[i + 1];
    }
    return true;
}

}  // namespace sluice
