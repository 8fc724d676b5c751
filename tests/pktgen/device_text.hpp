#pragma once
#include <string>
#include <string_view>

namespace sluice::pktgen {

// A device as DPDK reads it: a PCI address or the name of a vdev, and its arguments behind commas.
[[nodiscard]] bool is_pci(std::string_view device);

// What DPDK calls its port: without arguments, a PCI address with its domain.
[[nodiscard]] std::string port_name(std::string_view device);

}  // namespace sluice::pktgen
