#pragma once
#include <cstddef>
#include <cstdint>

namespace sluice {

// How many bytes compiling takes at most beside the texts: of a rule file, and of the lists that it
// reads. A bound by what text holds the most in the fewest bytes: an item of a YAML flow is a node,
// a line of a list an address and two steps.
[[nodiscard]] constexpr std::uint64_t compile_memory(std::size_t rule_bytes,
                                                     std::size_t list_bytes) noexcept {
    constexpr std::uint64_t kAnyFile = std::uint64_t{2} << 20;
    constexpr std::uint64_t kOfRules = 64;
    constexpr std::uint64_t kOfLists = 24;
    return kAnyFile + kOfRules * rule_bytes + kOfLists * list_bytes;
}

}  // namespace sluice
