#pragma once
#include "lib/base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice {

inline constexpr std::size_t kShortestSecret = 16;  // bytes, of printable ASCII without a space
inline constexpr std::size_t kLongestSecret = 512;

// For messages: "the token of the API", and the word for what the file holds, "token".
struct SecretName {
    std::string_view owner;
    std::string_view word;
};

// The one line of a file that belongs to root or to who runs this, that others may not read and
// only its owner may write.
[[nodiscard]] Result<std::string> read_secret_file(const std::string& path, const SecretName& name);

}  // namespace sluice
