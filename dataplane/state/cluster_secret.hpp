#pragma once
#include "lib/base/result.hpp"
#include "lib/bucket/hash/siphash.hpp"

#include <string>

namespace sluice {

// The secret by which all boxes of a cluster name their keys: 32 hexadecimal digits in a file that
// nobody else may read. Refused where this machine cannot make the hash of the others.
[[nodiscard]] Result<HashSecret> read_cluster_secret(const std::string& file);

}  // namespace sluice
