#pragma once
#include <cstdint>
#include <string_view>

namespace sluice {

// The owner of a bucket's state, in one spelling.
struct StateOwner {
    std::string_view rule;
    std::string_view name;    // of the limit
    std::string_view key;     // its schema
    std::string_view schema;  // the algorithm, and what changes the meaning of its counts
    std::string_view per;
};

// FNV-1a, 64 bits.
[[nodiscard]] std::uint64_t identity_of(const StateOwner& owner);

}  // namespace sluice
