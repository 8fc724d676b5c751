#pragma once
#include "dataplane/options.hpp"
#include "lib/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// Whether a device is a PCI address (bus:device.function), which the EAL itself must probe.
[[nodiscard]] bool is_pci(const std::string& device);

// How many lcores a list in DPDK's syntax names, such as `0@0,(1-3)@(4-6)`; 0: it is no such list.
[[nodiscard]] std::size_t count_lcores(std::string_view list);

// The EAL's arguments for these options. `free_huge` is what the host has free in huge pages, in
// bytes: with HugePages::Auto they are used if they are enough.
[[nodiscard]] Result<std::vector<std::string>> eal_arguments(const DataplaneOptions& options,
                                                             std::uint64_t free_huge);

// Starts the EAL. Nothing it maps outlives the process.
[[nodiscard]] Result<Done> start_eal(const DataplaneOptions& options);

// The end of it, once no port and no worker is left.
void end_eal() noexcept;

}  // namespace sluice
