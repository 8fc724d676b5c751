#pragma once
#include "lib/packet/rss.hpp"

#include <cstdint>
#include <span>

namespace sluice {

// True if a key, or a part of one, spreads flows: neither nearly empty nor nearly full of ones.
[[nodiscard]] bool is_degenerate(std::span<const std::uint8_t> key) noexcept;

// DPDK's hash functions for `how`, as far as the port has them; 0: none that will do. No port
// hashes a prefix of the source: for that one it is the source.
[[nodiscard]] std::uint64_t rss_functions(Rss how, std::uint64_t offered) noexcept;

}  // namespace sluice
