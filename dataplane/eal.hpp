#pragma once
#include "dataplane/config/options.hpp"
#include "lib/base/device_text.hpp"
#include "lib/base/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

// The EAL's arguments for these options. `free_huge` is what the host has free in huge pages, in
// bytes: with HugePages::Auto they are used if they are enough.
[[nodiscard]] Result<std::vector<std::string>> eal_arguments(const DataplaneOptions& options,
                                                             std::uint64_t free_huge);

// Starts the EAL. Nothing it maps outlives the process.
[[nodiscard]] Result<Done> start_eal(const DataplaneOptions& options);

// The end of it, once no port and no worker is left.
void end_eal() noexcept;

}  // namespace sluice
