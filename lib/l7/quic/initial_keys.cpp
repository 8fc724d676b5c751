#include "lib/l7/quic/initial_keys.hpp"

#include "lib/base/check.hpp"
#include "lib/l7/crypto/sha256.hpp"
#include "lib/l7/quic/quic_version.hpp"

#include <algorithm>

namespace sluice {
namespace {

// HKDF-Expand-Label of RFC 8446, section 7.1, with an empty context: fills `out`, which has at most
// 32 bytes. With "tls13 " before it, a label has at most 32. HKDF-Extract is hmac_sha256(salt,
// secret).
void expand_label(ByteView secret, std::string_view label, MutableBytes out) noexcept {
    constexpr std::string_view kPrefix = "tls13 ";
    SLUICE_CHECK(kPrefix.size() + label.size() <= 32 && out.size() <= Sha256Digest{}.size());
    std::array<std::byte, kMaxHmacMessage> info;
    auto end = info.begin();
    *end++ = std::byte{0};
    *end++ = static_cast<std::byte>(out.size());
    *end++ = static_cast<std::byte>(kPrefix.size() + label.size());
    for (const std::string_view part : {kPrefix, label}) {
        const ByteView bytes = bytes_of(part);
        end = std::copy(bytes.begin(), bytes.end(), end);
    }
    *end++ = std::byte{0};  // no context
    *end++ = std::byte{1};  // the number of the one block of output
    const Sha256Digest block =
        hmac_sha256(secret, ByteView{info}.first(static_cast<std::size_t>(end - info.begin())));
    std::copy_n(block.begin(), out.size(), out.begin());
}

struct VersionLabels {
    std::array<std::uint8_t, 20> salt;
    std::string_view key;
    std::string_view iv;
    std::string_view header;
};

constexpr VersionLabels kV1Labels{
    .salt = {0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17,
             0x9a, 0xe6, 0xa4, 0xc8, 0x0c, 0xad, 0xcc, 0xbb, 0x7f, 0x0a},
    .key = "quic key",
    .iv = "quic iv",
    .header = "quic hp"};
constexpr VersionLabels kV2Labels{
    .salt = {0x0d, 0xed, 0xe3, 0xde, 0xf7, 0x00, 0xa6, 0xdb, 0x81, 0x93,
             0x81, 0xbe, 0x6e, 0x26, 0x9d, 0xcb, 0xf9, 0xbd, 0x2e, 0xd9},
    .key = "quicv2 key",
    .iv = "quicv2 iv",
    .header = "quicv2 hp"};

}  // namespace

InitialKeys derive_initial_keys(std::uint32_t version, ByteView dcid, QuicSide side) noexcept {
    const VersionLabels& labels = version == kQuicV2 ? kV2Labels : kV1Labels;
    const Sha256Digest initial = hmac_sha256(std::as_bytes(std::span{labels.salt}), dcid);
    Sha256Digest secret;
    expand_label(initial, side == QuicSide::Client ? "client in" : "server in", secret);
    InitialKeys keys;
    expand_label(secret, labels.key, keys.key);
    expand_label(secret, labels.iv, keys.iv);
    expand_label(secret, labels.header, keys.header);
    return keys;
}

}  // namespace sluice
