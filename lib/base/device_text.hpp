#pragma once
#include <cstddef>
#include <string>
#include <string_view>

// Words in which a box is described, as DPDK reads them.
namespace sluice {

// Whether a device is a PCI address (bus:device.function), which the EAL itself must probe.
[[nodiscard]] bool is_pci(const std::string& device);

// How many lcores a list in DPDK's syntax names, such as `0@0,(1-3)@(4-6)`; 0: it is no such list.
[[nodiscard]] std::size_t count_lcores(std::string_view list);

}  // namespace sluice
