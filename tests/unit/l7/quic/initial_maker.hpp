#pragma once
#include "lib/l7/quic/initial_keys.hpp"
#include "lib/l7/quic/quic_version.hpp"
#include "tests/packets/frame.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include <openssl/evp.h>

// Initials as a client protects them (RFC 9001, section 5):
//   InitialMaker{}.carries(crypto(0, message)).packet()
namespace sluice::test {

inline void put_varint(Octets& out, std::uint64_t value) {
    if (value < 64) {
        put8(out, static_cast<unsigned>(value));
    } else if (value < 16'384) {
        put16(out, static_cast<unsigned>(value) | 0x4000);
    } else if (value < 1U << 30) {
        put32(out, static_cast<std::uint32_t>(value) | 0x8000'0000);
    } else {
        put32(out, static_cast<std::uint32_t>(value >> 32) | 0xC000'0000);
        put32(out, static_cast<std::uint32_t>(value));
    }
}

[[nodiscard]] inline Octets crypto(std::uint64_t offset, const Octets& bytes) {
    Octets frame{std::byte{6}};
    put_varint(frame, offset);
    put_varint(frame, bytes.size());
    put(frame, bytes);
    return frame;
}
[[nodiscard]] inline Octets crypto(std::uint64_t offset, const Octets& of, std::size_t begin,
                                   std::size_t end) {
    (void)of.at(end - 1);
    return crypto(offset, {of.begin() + static_cast<std::ptrdiff_t>(begin),
                           of.begin() + static_cast<std::ptrdiff_t>(end)});
}

class InitialMaker {
public:
    InitialMaker& version(std::uint32_t value) { return set(version_, value); }
    InitialMaker& dcid(Octets id) { return set(dcid_, std::move(id)); }
    // What the keys come from, where it is not the packet's own id.
    InitialMaker& keys_of(Octets id) { return set(keys_of_, std::move(id)); }
    InitialMaker& token(Octets bytes) { return set(token_, std::move(bytes)); }
    InitialMaker& number(std::uint32_t value, std::size_t bytes) {
        number_bytes_ = bytes;
        return set(number_, value);
    }
    // Frames, one behind the other.
    InitialMaker& carries(const Octets& frames) {
        put(frames_, frames);
        return *this;
    }
    // PADDING up to a payload of that size.
    InitialMaker& padded_to(std::size_t size) {
        frames_.resize(std::max(size, frames_.size()));
        return *this;
    }
    InitialMaker& fixed_bit(bool set_it) { return set(fixed_bit_, set_it); }

    [[nodiscard]] Octets packet() const {
        const Octets header = plain_header();
        InitialKeys keys = key_set();
        for (std::size_t i = 0; i < 4; ++i) {
            keys.iv[8 + i] ^= static_cast<std::byte>(number_ >> (24 - 8 * i));
        }
        Octets out = header;
        put(out, sealed(keys, header));
        mask(out, keys, header.size() - number_bytes_);
        return out;
    }

private:
    template <typename T>
    InitialMaker& set(T& what, T value) {
        what = std::move(value);
        return *this;
    }
    [[nodiscard]] InitialKeys key_set() const {
        return derive_initial_keys(version_, keys_of_.empty() ? dcid_ : keys_of_, QuicSide::Client);
    }
    [[nodiscard]] Octets plain_header() const {
        Octets header;
        const unsigned type = version_ == kQuicV2 ? 0x10 : 0x00;
        put8(header,
             0x80U | (fixed_bit_ ? 0x40U : 0U) | type | static_cast<unsigned>(number_bytes_ - 1));
        put32(header, version_);
        put8(header, static_cast<unsigned>(dcid_.size()));
        put(header, dcid_);
        put8(header, 4);
        put32(header, 0x5C1D);
        put_varint(header, token_.size());
        put(header, token_);
        put_varint(header, number_bytes_ + frames_.size() + 16);
        for (std::size_t i = number_bytes_; i > 0; --i) {
            put8(header, number_ >> (8 * (i - 1)) & 0xFF);
        }
        return header;
    }
    using Context = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;
    static unsigned char* octets(Octets& bytes) {
        return reinterpret_cast<unsigned char*>(bytes.data());
    }
    static const unsigned char* octets(const std::byte* bytes) {
        return reinterpret_cast<const unsigned char*>(bytes);
    }
    [[nodiscard]] Octets sealed(const InitialKeys& keys, const Octets& header) const {
        const Context context{EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free};
        Octets out(frames_.size());
        Octets tag(16);
        int size = 0;
        EVP_EncryptInit_ex(context.get(), EVP_aes_128_gcm(), nullptr, octets(keys.key.data()),
                           octets(keys.iv.data()));
        EVP_EncryptUpdate(context.get(), nullptr, &size, octets(header.data()),
                          static_cast<int>(header.size()));
        EVP_EncryptUpdate(context.get(), octets(out), &size, octets(frames_.data()),
                          static_cast<int>(frames_.size()));
        EVP_EncryptFinal_ex(context.get(), octets(out) + size, &size);
        EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, 16, tag.data());
        put(out, tag);
        return out;
    }
    void mask(Octets& packet, const InitialKeys& keys, std::size_t number_at) const {
        const Context context{EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free};
        Octets bits(32);
        int size = 0;
        if (packet.size() < number_at + 20) {
            return;  // no sample: nobody can open it
        }
        EVP_EncryptInit_ex(context.get(), EVP_aes_128_ecb(), nullptr, octets(keys.header.data()),
                           nullptr);
        EVP_EncryptUpdate(context.get(), octets(bits), &size, octets(&packet[number_at + 4]), 16);
        packet[0] ^= bits[0] & std::byte{0x0F};
        for (std::size_t i = 0; i < number_bytes_; ++i) {
            packet[number_at + i] ^= bits[i + 1];
        }
    }

    std::uint32_t version_ = kQuicV1;
    std::uint32_t number_ = 0;
    std::size_t number_bytes_ = 4;
    bool fixed_bit_ = true;
    Octets dcid_ = Octets(8, std::byte{0xD1});
    Octets keys_of_;
    Octets token_;
    Octets frames_;
};

}  // namespace sluice::test
