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

// True if an Error says that what is there is bad, and not that it cannot be read just now.
[[nodiscard]] inline bool is_about_content(const Error& error) noexcept {
    return error.code != Errc::Unreachable;
}

// The names in a folder. All of them or an Error; a folder that is not there has none.
[[nodiscard]] Result<std::vector<std::string>> list_folder(const std::string& folder);
// The names that can be read, for those to whom the others are no loss.
[[nodiscard]] std::vector<std::string> names_in(const std::string& folder);

}  // namespace sluice
