#pragma once
#include "dataplane/options.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

inline constexpr std::size_t kMaxRssKey = 64;

// A Toeplitz key out of random bytes, twice as many as the key has at least, so that nobody outside
// can aim a flood at one worker: the same for the same bytes. For Rss::Symmetric it repeats 16
// bits, which makes both directions of a flow hash alike (Woo, Park 2012). Keys with so few or so
// many ones that flows would bunch are passed over.
void make_rss_key(Rss how, std::span<const std::uint8_t> secret,
                  std::span<std::uint8_t> key) noexcept;

// Whether a key spreads flows: neither nearly empty nor nearly full of ones.
[[nodiscard]] bool is_degenerate(std::span<const std::uint8_t> key) noexcept;

// DPDK's hash functions for `how`, as far as the port has them; 0: none that will do.
[[nodiscard]] std::uint64_t rss_functions(Rss how, std::uint64_t offered) noexcept;

}  // namespace sluice
