#pragma once
#include "lib/base/device_text.hpp"
#include "lib/base/result.hpp"
#include "lib/rules/box_config.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sluice {

// The EAL's arguments for this box, and `more` behind them. `free_huge` is what the host has free
// in huge pages, in bytes: with HugePages::Auto they are used if they are enough.
[[nodiscard]] Result<std::vector<std::string>> eal_arguments(const BoxConfig& box,
                                                             std::span<const std::string> more,
                                                             std::uint64_t free_huge);

// Starts the EAL. Nothing it maps outlives the process.
[[nodiscard]] Result<Done> start_eal(const BoxConfig& box, std::span<const std::string> more);

// The end of it, once no port and no worker is left.
void end_eal() noexcept;

}  // namespace sluice
