#pragma once
#include "lib/engine/burst/core_state.hpp"
#include "lib/rules/load/loaded_set.hpp"

#include <optional>

namespace sluice {

// A limit's bucket as it stands now. Reading it changes nothing.
struct BucketView {
    bool fresh = false;  // the key has no bucket yet
    Units remaining;
    std::optional<Nanoseconds> wait;  // until `cost` is admitted; nullopt: never
};

// Whose bucket, and how much of it.
struct BucketQuestion {
    const LoadedLimit& limit;
    OwnNumbers own;  // that the key has in place of the limit's
    ByteView key;
    Demand demand;
    Now now;
};

// nullopt: it would be a new bucket, and there is no room for one.
[[nodiscard]] std::optional<BucketView> view_bucket(CoreState& core, const BucketQuestion& asked);

}  // namespace sluice
