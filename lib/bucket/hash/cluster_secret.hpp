#pragma once
#include "lib/bucket/hash/siphash.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

// The secret by which all boxes of a cluster name their keys.
namespace sluice {

// 32 hexadecimal digits, each half of the secret most significant digit first; line ends behind
// them do not count. nullopt: the text is something else.
[[nodiscard]] std::optional<HashSecret> read_secret_digits(std::string_view text) noexcept;

// Tells two secrets apart and nothing of either: it may stand where the secret may not.
[[nodiscard]] std::uint64_t digest_of_secret(const HashSecret& secret) noexcept;

}  // namespace sluice
