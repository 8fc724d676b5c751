#pragma once
#include "lib/engine/burst/core_state.hpp"
#include "lib/rules/load/loaded_set.hpp"

#include <cstdint>

// Fills the tables that a packet is judged with here with the state of its keys on a worker of the
// box: as much is left in a bucket as there.
namespace sluice {

// What a box says of one limit's bucket.
struct SeedBucket {
    const LoadedRule& rule;
    std::uint8_t limit = 0;  // index in the rule
    ByteView key;
    Units remaining;
};
void seed_bucket(CoreState& core, const SeedBucket& seed, Now now);

// And of one key's place in the penalty box.
struct SeedBox {
    const LoadedLimit& box;
    ByteView key;
    std::uint64_t refusals = 0;
    Nanoseconds left{};  // of the ban
};
void seed_box(CoreState& core, const SeedBox& seed, Now now);

}  // namespace sluice
