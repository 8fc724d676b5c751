#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/result.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace sluice {

// Replaces a file as a whole: written beside it and renamed, so that it is there as it was or as it
// is to be. Durable: on the disk, and not only in this machine's memory, before this returns.
enum class Durable : bool { No, Yes };
[[nodiscard]] Result<Done> replace_file(const std::string& path, ByteView bytes, Durable durable);

// Moves a file that cannot be used out of the way, not lost. Says where it is: "it is kept as ...".
// The newest kMostAside of a name are kept, the others removed.
inline constexpr std::size_t kMostAside = 8;
[[nodiscard]] std::string put_file_aside(const std::string& path);

// Files that were put aside of this one and are there still, the oldest first.
[[nodiscard]] std::vector<std::string> files_aside(const std::string& path);

}  // namespace sluice
