#pragma once
#include "lib/rules/overrides.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sluice {

// A key that a file bans.
struct BannedKey {
    std::uint8_t key = 0;          // of the rule's keys
    std::uint32_t line = 0;        // of its file
    Nanoseconds until = kForever;  // UTC
    std::vector<std::byte> bytes;
    std::shared_ptr<const std::string> reason{};  // as its line has it; nullptr: none
};
using BannedKeys = std::vector<BannedKey>;

}  // namespace sluice
