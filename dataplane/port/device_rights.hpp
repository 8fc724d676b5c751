#pragma once
#include <cstdint>
#include <string>

namespace sluice {

// The capabilities of this process that count (CAP_…), a bit each by number; 0 where the kernel
// does not say.
[[nodiscard]] std::uint64_t effective_capabilities() noexcept;

// Names of the capabilities that a device needs to be brought up and a process does not have:
// "CAP_NET_RAW, CAP_NET_ADMIN". Empty: it has them, or the device needs none that is known.
[[nodiscard]] std::string missing_capabilities(const std::string& device, std::uint64_t effective);

}  // namespace sluice
