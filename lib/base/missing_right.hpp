#pragma once
#include <string>

namespace sluice {

// Why this process may not use the socket at `path`: the first folder on the way that its user may
// not enter, else the socket itself, with mode, owner and group, and who may. Empty: it may, or
// nothing is there.
[[nodiscard]] std::string missing_right(const std::string& path);

}  // namespace sluice
