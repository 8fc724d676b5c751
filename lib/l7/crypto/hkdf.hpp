#pragma once
#include "lib/l7/crypto/sha256.hpp"

#include <string_view>

namespace sluice {

// HKDF-Expand-Label of RFC 8446, section 7.1, with an empty context: fills `out`, which has at most
// 32 bytes. With "tls13 " before it, a label has at most 32. HKDF-Extract is hmac_sha256(salt,
// secret).
void expand_label(ByteView secret, std::string_view label, MutableBytes out) noexcept;

}  // namespace sluice
