#pragma once
#include "lib/hash/siphash.hpp"
#include "lib/load/loaded_set.hpp"

namespace sluice {

// Makes the tables in which the packet path finds overridden keys, under the secret of the hasher
// that digests them there, and marks the limits that they may give other numbers. Tables of the
// very same overrides are shared with `before`, a set that was loaded under the same secret.
void load_overrides(LoadedSet& set, const HashSecret& secret, const LoadedSet* before);

}  // namespace sluice
