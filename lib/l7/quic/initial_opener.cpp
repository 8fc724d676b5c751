#include "lib/l7/quic/initial_opener.hpp"

#include "lib/l7/quic/packet_protection.hpp"
#include "lib/l7/quic/quic_version.hpp"

#include <algorithm>

#include <openssl/evp.h>

namespace sluice {
namespace {

constexpr std::size_t kMaxPlain = 0x1'0000;

}  // namespace

ConnectionId::ConnectionId(ByteView id) noexcept
    : size_{static_cast<std::uint8_t>(std::min(id.size(), kMaxSize))} {
    std::copy_n(id.begin(), size_, bytes_.begin());
}

InitialOpener::InitialOpener(CipherContext header, CipherContext payload)
    : header_{std::move(header)},
      payload_{std::move(payload)},
      plain_{std::make_unique<std::byte[]>(kMaxPlain)} {}

Result<InitialOpener> InitialOpener::make() {
    CipherContext header = new_cipher_context("AES-128-ECB", CipherUse::Encrypt);
    CipherContext payload = new_cipher_context("AES-128-GCM", CipherUse::Decrypt);
    if (!header || !payload) {
        return Error{Errc::NotSupported, "OpenSSL has no AES-128-GCM or no AES-128-ECB"};
    }
    InitialOpener opener{std::move(header), std::move(payload)};
    // Work that OpenSSL puts off until the first use is done here: a packet of zeroes is refused.
    const std::array<std::byte, 64> zeroes{};
    (void)opener.open(
        {.type = QuicPacketType::Initial, .version = kQuicV1, .bytes = zeroes, .number_at = 8}, {});
    return opener;
}

std::optional<ByteView> InitialOpener::open(const QuicPacket& packet,
                                            ByteView client_dcid) noexcept {
    SLUICE_CHECK(packet.can_open());
    use_keys(packet.version, client_dcid);
    Number number;
    const std::size_t size_behind = packet.bytes.size() - packet.number_at;
    if (!unmask(packet, number) || size_behind < number.size + kQuicTagSize ||
        size_behind > kMaxPlain || !authenticate_header(packet, number)) {
        return std::nullopt;
    }
    const ByteView sealed = packet.bytes.subspan(packet.number_at + number.size);
    const ByteView text = sealed.first(sealed.size() - kQuicTagSize);
    std::array<std::byte, kQuicTagSize> tag;
    std::copy_n(sealed.end() - kQuicTagSize, kQuicTagSize, tag.begin());
    int size = 0;
    int rest = 0;
    const bool authentic =
        EVP_DecryptUpdate(payload_.get(), octets(plain_.get()), &size, octets(text.data()),
                          static_cast<int>(text.size())) == 1 &&
        EVP_CIPHER_CTX_ctrl(payload_.get(), EVP_CTRL_AEAD_SET_TAG, kQuicTagSize, tag.data()) == 1 &&
        EVP_DecryptFinal_ex(payload_.get(), octets(plain_.get()) + size, &rest) == 1;
    if (!authentic) {
        return std::nullopt;
    }
    return ByteView{plain_.get(), text.size()};
}

void InitialOpener::use_keys(std::uint32_t version, ByteView client_dcid) noexcept {
    const ConnectionId wanted{client_dcid};
    if (version == keyed_version_ && wanted == keyed_for_) {
        return;
    }
    keys_ = derive_initial_keys(version, wanted.bytes(), QuicSide::Client);
    const bool keyed = EVP_EncryptInit_ex2(header_.get(), nullptr, octets(keys_.header.data()),
                                           nullptr, nullptr) == 1 &&
                       EVP_DecryptInit_ex2(payload_.get(), nullptr, octets(keys_.key.data()),
                                           nullptr, nullptr) == 1;
    keyed_for_ = wanted;
    keyed_version_ = keyed ? version : 0;
}

// Section 5.4.1: five bytes of mask, from a sample of what is encrypted.
bool InitialOpener::unmask(const QuicPacket& packet, Number& number) noexcept {
    QuicHeaderMask mask;
    if (!make_header_mask(header_, packet.bytes, packet.number_at, mask)) {
        return false;
    }
    number.first = packet.bytes[0] ^ (mask[0] & std::byte{0x0F});
    number.size = quic_number_size(number.first);
    for (std::size_t i = 0; i < number.size; ++i) {
        number.bytes[i] = packet.bytes[packet.number_at + i] ^ mask[i + 1];
    }
    return true;
}

// The header as it was before its protection is what the tag covers besides the payload. The number
// of a client's Initial counts from 0, so it is never cut: its bytes are all of it.
bool InitialOpener::authenticate_header(const QuicPacket& packet, const Number& number) noexcept {
    const QuicNonce nonce = nonce_of(keys_, ByteView{number.bytes}.first(number.size));
    int size = 0;
    const auto cover = [&](const std::byte* bytes, std::size_t count) {
        return EVP_DecryptUpdate(payload_.get(), nullptr, &size, octets(bytes),
                                 static_cast<int>(count)) == 1;
    };
    return EVP_DecryptInit_ex2(payload_.get(), nullptr, nullptr, octets(nonce.data()), nullptr) ==
               1 &&
           cover(&number.first, 1) && cover(packet.bytes.data() + 1, packet.number_at - 1U) &&
           cover(number.bytes.data(), number.size);
}

}  // namespace sluice
