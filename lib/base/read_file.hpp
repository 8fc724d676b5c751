#pragma once
#include "lib/base/result.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// The whole of a regular file, without an exception whatever the disk does. nullopt: nothing has
// that name. The Error tells what is there from what the machine can do just now: Unreachable, it
// may be good and cannot be read (no descriptor, no memory, no right, EIO); else it never can be:
// it is no file (BadSyntax), or larger than `most` (TooMany).
[[nodiscard]] Result<std::optional<std::string>> read_whole_file(const std::string& path,
                                                                 std::size_t most);

// Whether an Error says that what is there is bad, and not that it cannot be read just now.
[[nodiscard]] inline bool is_about_content(const Error& error) noexcept {
    return error.code != Errc::Unreachable;
}

// The names in a folder; as many as can be read.
[[nodiscard]] std::vector<std::string> names_in(const std::string& folder);

}  // namespace sluice
