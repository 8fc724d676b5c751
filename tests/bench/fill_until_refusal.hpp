#pragma once
#include <cstddef>
#include <cstdint>

namespace sluice::bench {

// New keys come and old ones end, and more come than end, until the first finds no place in a table
// made for `keys`. Bytes of all tables for each key that is live then.
double bytes_per_key_at_first_refusal(std::size_t keys, std::uint64_t seed);

}  // namespace sluice::bench
