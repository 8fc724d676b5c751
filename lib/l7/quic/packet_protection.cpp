#include "lib/l7/quic/packet_protection.hpp"

#include <openssl/evp.h>

namespace sluice {

QuicNonce nonce_of(const InitialKeys& keys, ByteView number) noexcept {
    QuicNonce nonce = keys.iv;
    for (std::size_t i = 0; i < number.size(); ++i) {
        nonce[nonce.size() - number.size() + i] ^= number[i];
    }
    return nonce;
}

bool make_header_mask(const CipherContext& context, ByteView packet, std::size_t number_at,
                      QuicHeaderMask& mask) noexcept {
    int size = 0;
    const ByteView sample = packet.subspan(number_at + kQuicSampleAt, kQuicSampleSize);
    return EVP_EncryptUpdate(context.get(), octets(mask.data()), &size, octets(sample.data()),
                             static_cast<int>(sample.size())) == 1;
}

}  // namespace sluice
