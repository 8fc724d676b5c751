#pragma once
#include "lib/rules/overrides.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice {

// A key that a file bans.
struct BannedKey {
    std::uint8_t key = 0;          // of the rule's keys
    Nanoseconds until = kForever;  // UTC
    std::vector<std::byte> bytes;
};
using BannedKeys = std::vector<BannedKey>;

}  // namespace sluice
