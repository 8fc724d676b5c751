#pragma once
#include "lib/base/result.hpp"

#include <cstddef>
#include <string>

namespace sluice {

inline constexpr std::size_t kMaxTextFile = 16U << 20;

// The whole of a rule or configuration file; refused above `most` bytes.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path,
                                                 std::size_t most = kMaxTextFile);

}  // namespace sluice
