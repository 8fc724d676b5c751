#include "lib/l7/quic/initial_opener.hpp"

#include "lib/l7/quic/quic_version.hpp"

#include <algorithm>

#include <openssl/crypto.h>
#include <openssl/evp.h>

namespace sluice {
namespace {

constexpr std::size_t kTagSize = 16;
constexpr std::size_t kSampleAt = 4;  // behind the beginning of the packet number
constexpr std::size_t kMaxPlain = 0x1'0000;

const unsigned char* octets(const std::byte* bytes) noexcept {
    return reinterpret_cast<const unsigned char*>(bytes);
}
unsigned char* octets(std::byte* bytes) noexcept {
    return reinterpret_cast<unsigned char*>(bytes);
}

// A context for that cipher, to which keys come later.
evp_cipher_ctx_st* new_context(const char* name, bool encrypt) {
    EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, name, nullptr);
    EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
    if (cipher == nullptr || context == nullptr ||
        EVP_CipherInit_ex2(context, cipher, nullptr, nullptr, encrypt ? 1 : 0, nullptr) != 1) {
        EVP_CIPHER_CTX_free(context);
        context = nullptr;
    }
    EVP_CIPHER_free(cipher);
    return context;
}

}  // namespace

ConnectionId::ConnectionId(ByteView id) noexcept
    : size_{static_cast<std::uint8_t>(std::min(id.size(), kMaxSize))} {
    std::copy_n(id.begin(), size_, bytes_.begin());
}

void InitialOpener::Free::operator()(evp_cipher_ctx_st* context) const noexcept {
    EVP_CIPHER_CTX_free(context);
}

InitialOpener::InitialOpener(Context header, Context payload)
    : header_{std::move(header)},
      payload_{std::move(payload)},
      plain_{std::make_unique<std::byte[]>(kMaxPlain)} {}

// What openssl.cnf says is for programs that talk TLS: nothing of it is read.
Result<InitialOpener> InitialOpener::make() {
    (void)OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
    Context header{new_context("AES-128-ECB", true)};
    Context payload{new_context("AES-128-GCM", false)};
    if (!header || !payload || EVP_CIPHER_CTX_set_padding(header.get(), 0) != 1) {
        return Error{Errc::NotSupported, "OpenSSL has no AES-128-GCM or no AES-128-ECB"};
    }
    InitialOpener opener{std::move(header), std::move(payload)};
    // What OpenSSL puts off until the first use happens here: a packet of zeroes is refused.
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
    if (!unmask(packet, number) || size_behind < number.size + kTagSize ||
        size_behind > kMaxPlain || !authenticate_header(packet, number)) {
        return std::nullopt;
    }
    const ByteView sealed = packet.bytes.subspan(packet.number_at + number.size);
    const ByteView text = sealed.first(sealed.size() - kTagSize);
    std::array<std::byte, kTagSize> tag;
    std::copy_n(sealed.end() - kTagSize, kTagSize, tag.begin());
    int size = 0;
    int rest = 0;
    const bool authentic =
        EVP_DecryptUpdate(payload_.get(), octets(plain_.get()), &size, octets(text.data()),
                          static_cast<int>(text.size())) == 1 &&
        EVP_CIPHER_CTX_ctrl(payload_.get(), EVP_CTRL_AEAD_SET_TAG, kTagSize, tag.data()) == 1 &&
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
    const InitialKeys keys = derive_initial_keys(version, wanted.bytes(), QuicSide::Client);
    const bool keyed = EVP_EncryptInit_ex2(header_.get(), nullptr, octets(keys.header.data()),
                                           nullptr, nullptr) == 1 &&
                       EVP_DecryptInit_ex2(payload_.get(), nullptr, octets(keys.key.data()),
                                           nullptr, nullptr) == 1;
    iv_ = keys.iv;
    keyed_for_ = wanted;
    keyed_version_ = keyed ? version : 0;
}

// Section 5.4.1: five bytes of mask, from a sample of what is encrypted.
bool InitialOpener::unmask(const QuicPacket& packet, Number& number) noexcept {
    std::array<std::byte, 16> mask;
    int size = 0;
    const ByteView sample = packet.bytes.subspan(packet.number_at + kSampleAt);
    if (EVP_EncryptUpdate(header_.get(), octets(mask.data()), &size, octets(sample.data()),
                          static_cast<int>(mask.size())) != 1) {
        return false;
    }
    number.first = packet.bytes[0] ^ (mask[0] & std::byte{0x0F});
    number.size = (std::to_integer<std::size_t>(number.first) & 3U) + 1;
    for (std::size_t i = 0; i < number.size; ++i) {
        number.bytes[i] = packet.bytes[packet.number_at + i] ^ mask[i + 1];
    }
    return true;
}

// The header as it was before its protection is what the tag covers besides the payload. The number
// of a client's Initial counts from 0, so it is never cut: its bytes are all of it.
bool InitialOpener::authenticate_header(const QuicPacket& packet, const Number& number) noexcept {
    std::array<std::byte, 12> nonce = iv_;
    for (std::size_t i = 0; i < number.size; ++i) {
        nonce[nonce.size() - number.size + i] ^= number.bytes[i];
    }
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
