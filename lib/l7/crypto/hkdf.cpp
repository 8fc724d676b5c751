#include "lib/l7/crypto/hkdf.hpp"

#include "lib/base/check.hpp"

#include <algorithm>

namespace sluice {

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

}  // namespace sluice
