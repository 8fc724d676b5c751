#pragma once
#include "lib/rules/group.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice {

// A sample of one packet that a rule matched, with the key it was counted for. Tables hold
// fingerprints only.
struct KeySample {
    // In the place of what is left: nothing is known of it; the key is exempt; it is banned.
    static constexpr std::uint64_t kUnknown = UINT64_MAX;
    static constexpr std::uint64_t kExempt = UINT64_MAX - 1;
    static constexpr std::uint64_t kBanned = UINT64_MAX - 2;

    std::uint64_t load;       // of the rule set it was judged by
    std::uint32_t rule;       // index in that set
    std::uint32_t weight;     // packets that it stands for
    std::uint32_t bytes;      // of its frame on the wire
    std::uint64_t remaining;  // units of the key's first limit, after the packet; or one of these
    bool denied;              // a limit of the rule refused the packet
    std::uint16_t size;       // of the key
    std::array<std::byte, KeyBytes::kMaxSize> key;
};

}  // namespace sluice
