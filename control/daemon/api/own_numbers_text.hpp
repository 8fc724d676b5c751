#pragma once
#include "lib/wire/message.hpp"

#include <string>
#include <string_view>

namespace sluice {

// A limit's text ("token_bucket 50/s burst 200 per packet") with the numbers of its own that a key
// has for it.
[[nodiscard]] std::string with_own_numbers(std::string_view limit, const KeyBucketState& bucket);

}  // namespace sluice
