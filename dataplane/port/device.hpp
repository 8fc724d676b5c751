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

// For a port whose device was closed: brings it up under the number that it had. DPDK gives the
// least number that is free, so where the device does not come up its number is held for it: others
// that are away meanwhile get their own.
[[nodiscard]] Result<Done> attach_again(const std::string& device, std::uint16_t number);

// The name under which DPDK knows a device: without its arguments, a PCI address with its domain.
[[nodiscard]] std::string device_name(const std::string& device);

}  // namespace sluice
