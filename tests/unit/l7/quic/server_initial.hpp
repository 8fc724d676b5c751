#pragma once
#include "lib/l7/quic/initial_keys.hpp"
#include "lib/l7/quic/quic_version.hpp"
#include "tests/packets/frame.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <openssl/evp.h>

namespace sluice::test {

// RFC 9001, A.3, and RFC 9369, A.3: what the server of both answers, in clear and protected.
inline constexpr std::string_view kRfcServerFrames =
    "02000000000600405a020000560303eefce7f7b37ba1d1632e96677825ddf73988cfc79825df566dc5430b9a"
    "045a1200130100002e00330024001d00209d3c940d89690b84d08a60993c144eca684d1081287c834d5311bc"
    "f32bb9da1a002b00020304";
inline constexpr std::string_view kRfc9001ServerHeader = "c1000000010008f067a5502a4262b50040750001";
inline constexpr std::string_view kRfc9001ServerInitial =
    "cf000000010008f067a5502a4262b5004075c0d95a482cd0991cd25b0aac406a5816b6394100f37a1c697975"
    "54780bb38cc5a99f5ede4cf73c3ec2493a1839b3dbcba3f6ea46c5b7684df3548e7ddeb9c3bf9c73cc3f3bde"
    "d74b562bfb19fb84022f8ef4cdd93795d77d06edbb7aaf2f58891850abbdca3d20398c276456cbc42158407d"
    "d074ee";
inline constexpr std::string_view kRfc9369ServerHeader = "d16b3343cf0008f067a5502a4262b50040750001";
inline constexpr std::string_view kRfc9369ServerInitial =
    "dc6b3343cf0008f067a5502a4262b5004075d92faaf16f05d8a4398c47089698baeea26b91eb761d9b89237b"
    "bf87263017915358230035f7fd3945d88965cf17f9af6e16886c61bfc703106fbaf3cb4cfa52382dd16a393e"
    "42757507698075b2c984c707f0a0812d8cd5a6881eaf21ceda98f4bd23f6fe1a3e2c43edd9ce7ca84bed8521"
    "e2e140";

// The frames of a server's Initial as its client removes their protection; nullopt: they are not
// authentic.
[[nodiscard]] inline std::optional<Octets> open_server_initial(Octets packet,
                                                               const Octets& client_dcid,
                                                               std::size_t number_at) {
    const auto octets_at = [](auto* from) {
        return reinterpret_cast<unsigned char*>(const_cast<std::byte*>(from));
    };
    InitialKeys keys = derive_initial_keys(load_be32(packet, 1), client_dcid, QuicSide::Server);
    const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context{
        EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free};
    int size = 0;
    Octets mask(32);
    EVP_EncryptInit_ex(context.get(), EVP_aes_128_ecb(), nullptr, octets_at(keys.header.data()),
                       nullptr);
    EVP_EncryptUpdate(context.get(), octets_at(mask.data()), &size,
                      octets_at(&packet.at(number_at + 4)), 16);
    packet[0] ^= mask[0] & std::byte{0x0F};
    const std::size_t header = number_at + 1 + (std::to_integer<std::size_t>(packet[0]) & 3U);
    for (std::size_t i = number_at; i < header; ++i) {
        packet[i] ^= mask[i - number_at + 1];
        keys.iv[12 - header + i] ^= packet[i];
    }
    Octets frames(packet.size() - header - 16);
    EVP_DecryptInit_ex(context.get(), EVP_aes_128_gcm(), nullptr, octets_at(keys.key.data()),
                       octets_at(keys.iv.data()));
    EVP_DecryptUpdate(context.get(), nullptr, &size, octets_at(packet.data()),
                      static_cast<int>(header));
    EVP_DecryptUpdate(context.get(), octets_at(frames.data()), &size, octets_at(&packet[header]),
                      static_cast<int>(frames.size()));
    EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, 16,
                        octets_at(&packet[packet.size() - 16]));
    if (EVP_DecryptFinal_ex(context.get(), octets_at(mask.data()), &size) != 1) {
        return std::nullopt;
    }
    return frames;
}

}  // namespace sluice::test
