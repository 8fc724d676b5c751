#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Words in which a box is described, as DPDK reads them.
namespace sluice {

// True if a device is a PCI address (bus:device.function), which the EAL itself must probe.
[[nodiscard]] bool is_pci(const std::string& device);

// The value of `key=` in a device's arguments, or empty.
[[nodiscard]] std::string device_argument(const std::string& device, const std::string& key);

// The interfaces of the kernel that a device is told to use, each once.
[[nodiscard]] std::vector<std::string> interfaces_of(const std::string& device);

// Why no interface is two ports.
inline constexpr const char* kSharedInterface =
    "what leaves by it would come in again; give each port an interface of its own";

// A program at the hook for XDP of an interface that the box has not put there, and what to do.
[[nodiscard]] std::string other_program_text(const std::string& interface, unsigned number,
                                             bool is_native);

// How many lcores a list in DPDK's syntax names, such as `0@0,(1-3)@(4-6)`; 0: it is no such list.
[[nodiscard]] std::size_t count_lcores(std::string_view list);

}  // namespace sluice
