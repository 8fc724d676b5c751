#pragma once
#include "lib/load/quick_rule.hpp"
#include "lib/meter/bucket_store.hpp"
#include "lib/pipeline/scratch.hpp"

namespace sluice {

// A bucket for a key that had none when its burst was looked for, where that is simple: there is a
// place in the key's own lines, and nobody owes anything for it. What a flood of new keys meets.
// False: nothing has been done, and the long way is to be taken (Placing).
[[nodiscard]] bool open_plain(Look& look, const QuickRule& rule, BucketStore& buckets,
                              Now now) noexcept;

}  // namespace sluice
