#pragma once
#include "lib/base/result.hpp"

#include <cstdint>
#include <string>

namespace sluice {

// Brings a device up by its name or address and arguments, and says which port it became. A socket
// file that a killed process left in its way is removed first.
[[nodiscard]] Result<std::uint16_t> attach_device(const std::string& device);

// Takes back what attach_device() did, as far as it was done.
void detach_device(const std::string& device) noexcept;

// The name under which DPDK knows a device: without its arguments, a PCI address with its domain.
[[nodiscard]] std::string device_name(const std::string& device);

// The value of `key=` in a device's arguments, or empty.
[[nodiscard]] std::string device_argument(const std::string& device, const std::string& key);

}  // namespace sluice
