#pragma once
#include "lib/base/result.hpp"
#include "lib/l7/crypto/sha256.hpp"

#include <string>
#include <string_view>

namespace sluice {

// 256 bits that nobody can guess, as 64 digits. An Error: the system has none.
[[nodiscard]] Result<std::string> random_secret();

// The digest by which a secret is kept and looked for: how far a guess is right shows in no time
// that it takes.
[[nodiscard]] Sha256Digest digest_of(std::string_view secret) noexcept;

}  // namespace sluice
