#pragma once
#include "dataplane/options.hpp"
#include "lib/base/result.hpp"

#include <string>
#include <vector>

namespace sluice {

// Whether a device is a PCI address (bus:device.function), which the EAL itself must probe.
[[nodiscard]] bool is_pci(const std::string& device);

// The EAL's arguments for these options. `free_huge_pages` says whether the host has any.
[[nodiscard]] Result<std::vector<std::string>> eal_arguments(const DataplaneOptions& options,
                                                             bool free_huge_pages);

// Starts the EAL. Nothing it maps outlives the process.
[[nodiscard]] Result<Done> start_eal(const DataplaneOptions& options);

// The end of it, once no port and no worker is left.
void end_eal() noexcept;

}  // namespace sluice
