#pragma once
#include "lib/l7/quic/initial_keys.hpp"
#include "tests/packets/frame.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <openssl/evp.h>

namespace sluice::bench {

// An Initial whose number has four bytes and is 0, and the keys of its connection.
struct SealedInitial {
    test::Octets packet;
    std::size_t number_at = 0;
    InitialKeys keys;
};

// What AES does for an Initial, and nothing else: the schedules of both keys, the mask of the
// header, the payload with its tag. One per thread.
class BareInitial {
public:
    BareInitial()
        : header_{context_of("AES-128-ECB", true)}, payload_{context_of("AES-128-GCM", false)} {}

    // Ends the program if the packet is not authentic.
    [[nodiscard]] std::size_t open(const SealedInitial& sealed) {
        const unsigned char* const packet = octets(sealed.packet);
        const std::size_t header_size = sealed.number_at + kNumber;
        unmask(sealed, packet);
        const std::size_t text = sealed.packet.size() - header_size - kTag;
        unsigned char tag[kTag];
        std::memcpy(tag, packet + header_size + text, kTag);
        EVP_CIPHER_CTX* const context = payload_.get();
        int size = 0;
        int rest = 0;
        if (EVP_DecryptInit_ex2(context, nullptr, octets(sealed.keys.key), octets(sealed.keys.iv),
                                nullptr) != 1 ||
            EVP_DecryptUpdate(context, nullptr, &size, clear_, static_cast<int>(header_size)) !=
                1 ||
            EVP_DecryptUpdate(context, plain_, &size, packet + header_size,
                              static_cast<int>(text)) != 1 ||
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, kTag, tag) != 1 ||
            EVP_DecryptFinal_ex(context, plain_ + size, &rest) != 1) {
            std::exit(1);
        }
        return plain_[0];
    }

private:
    using Context = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;
    static constexpr std::size_t kNumber = 4;
    static constexpr std::size_t kTag = 16;

    static Context context_of(const char* name, bool encrypt) {
        Context context{EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free};
        EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, name, nullptr);
        if (EVP_CipherInit_ex2(context.get(), cipher, nullptr, nullptr, encrypt ? 1 : 0, nullptr) !=
                1 ||
            EVP_CIPHER_CTX_set_padding(context.get(), 0) != 1) {
            std::exit(1);
        }
        EVP_CIPHER_free(cipher);
        return context;
    }
    template <typename Bytes>
    static const unsigned char* octets(const Bytes& bytes) noexcept {
        return reinterpret_cast<const unsigned char*>(bytes.data());
    }

    // The header without its protection, RFC 9001, section 5.4.
    void unmask(const SealedInitial& sealed, const unsigned char* packet) {
        unsigned char mask[16];
        int size = 0;
        if (EVP_EncryptInit_ex2(header_.get(), nullptr, octets(sealed.keys.header), nullptr,
                                nullptr) != 1 ||
            EVP_EncryptUpdate(header_.get(), mask, &size, packet + sealed.number_at + kNumber,
                              sizeof(mask)) != 1) {
            std::exit(1);
        }
        std::memcpy(clear_, packet, sealed.number_at + kNumber);
        clear_[0] ^= mask[0] & 0x0F;
        for (std::size_t i = 0; i < kNumber; ++i) {
            clear_[sealed.number_at + i] ^= mask[i + 1];
        }
    }

    Context header_;
    Context payload_;
    unsigned char clear_[64]{};
    unsigned char plain_[2048]{};
};

}  // namespace sluice::bench
