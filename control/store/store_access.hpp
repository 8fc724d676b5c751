#pragma once
#include "control/store/store_link.hpp"
#include "lib/base/result.hpp"
#include "lib/rules/cluster_options.hpp"

#include <string>

namespace sluice {

// Reads what files say: the password, certificates. An Error names the file.
[[nodiscard]] Result<StoreAccess> open_access(const ClusterStore& store);

// The first line of a file; empty without one.
[[nodiscard]] Result<std::string> read_password(const std::string& file);

}  // namespace sluice
