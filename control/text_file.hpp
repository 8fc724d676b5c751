#pragma once
#include "lib/base/result.hpp"

#include <cstddef>
#include <cstdio>
#include <string>

namespace sluice {

inline constexpr std::size_t kMaxTextFile = 16U << 20;

// The whole of a rule or configuration file; refused above `most` bytes.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path,
                                                 std::size_t most = kMaxTextFile);
// The same of what is open already, such as standard input; `name` is for messages.
[[nodiscard]] Result<std::string> read_text_stream(std::FILE* file, const std::string& name,
                                                   std::size_t most = kMaxTextFile);

}  // namespace sluice
