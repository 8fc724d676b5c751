#include "control/random_secret.hpp"

#include "control/hex_text.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>

#include <sys/random.h>

namespace sluice {

Result<std::string> random_secret() {
    std::array<std::byte, 32> bytes{};
    // Up to 256 bytes come whole, or not at all.
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
        return Error{Errc::Unreachable,
                     std::string{"the system gives no random bytes: "} + std::strerror(errno)};
    }
    return hex_text(bytes);
}

Sha256Digest digest_of(std::string_view secret) noexcept {
    return sha256(std::as_bytes(std::span{secret}));
}

}  // namespace sluice
