#pragma once
#include "lib/base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>

#include <sys/stat.h>

namespace sluice {

inline constexpr std::size_t kShortestSecret = 16;  // bytes, of printable ASCII without a space
inline constexpr std::size_t kLongestSecret = 512;

// For messages: "the token of the API", and the word for what the file holds, "token".
struct SecretName {
    std::string_view owner;
    std::string_view word;
};

// Why others could have read or written a file: it is none, not root's and not of the user that
// runs this, or has a mode for others. Empty: nobody could.
[[nodiscard]] std::string exposure_of(const struct stat& info);

// The one line of a file that belongs to root or to who runs this, that others may not read and
// only its owner may write.
[[nodiscard]] Result<std::string> read_secret_file(const std::string& path, const SecretName& name);

}  // namespace sluice
