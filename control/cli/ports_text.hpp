#pragma once
#include "control/cli/rates.hpp"

#include <string>

namespace sluice {

// For people: what each port is and has counted.
[[nodiscard]] std::string ports_text(const Json& document);
// The traffic through each port now, and what it has lost, by cause.
[[nodiscard]] std::string port_rates_text(const Sample& sample);

}  // namespace sluice
