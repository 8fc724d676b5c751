#pragma once
#include "lib/wire/message.hpp"

#include <string>
#include <vector>

namespace sluice {

// The program in the kernel at ports, in Prometheus text format 0.0.4; nothing where no port has
// one.
[[nodiscard]] std::string kernel_metrics(const std::vector<PortStats>& ports);

}  // namespace sluice
