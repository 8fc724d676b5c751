#pragma once
#include "lib/base/units.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// The treatment of new half heads when their budget is used up.
enum class FullHeads : std::uint8_t {
    Evict,   // the oldest half head of the source that has most goes first
    Refuse,  // they are refused
};

// All that one worker may spend on connections. Memory is taken once, in full.
struct ConnectionBudget {
    std::size_t connections = std::size_t{1} << 16;      // remembered at once, half heads included
    std::size_t half_heads = std::size_t{1} << 15;       // of them, those that hold bytes
    std::size_t refusals = std::size_t{1} << 14;         // of them, those that a refusal sticks to
    std::size_t given_up = std::size_t{1} << 13;         // of them, those whose head was given up
    std::size_t begun = std::size_t{1} << 12;            // of them, those with a SYN alone
    std::size_t half_head_lines = std::size_t{1} << 18;  // lines of 64 bytes they are held in
    std::size_t half_heads_per_source = std::size_t{1} << 12;
    std::size_t recent_bytes = std::size_t{16} << 20;  // of services' heads, for repeats in parts
    std::size_t head_bytes = std::size_t{16} << 10;    // of one head, at most kMostHeadBytes
    Nanoseconds half_head_timeout = std::chrono::seconds{10};
    Nanoseconds idle_timeout = std::chrono::seconds{60};
    FullHeads when_full = FullHeads::Evict;
};

// Offsets of held bytes are 16 bits wide.
inline constexpr std::size_t kMostHeadBytes = 60'000;

}  // namespace sluice
