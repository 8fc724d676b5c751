#include "tests/pktgen/device_text.hpp"

#include <algorithm>

namespace sluice::pktgen {
namespace {

std::string_view name_of(std::string_view device) {
    return device.substr(0, device.find(','));
}

}  // namespace

bool is_pci(std::string_view device) {
    constexpr std::string_view kOfAddresses = "0123456789abcdefABCDEF:.";
    const std::string_view name = name_of(device);
    return name.find(':') != std::string_view::npos &&
           name.find_first_not_of(kOfAddresses) == std::string_view::npos;
}

std::string port_name(std::string_view device) {
    const std::string name{name_of(device)};
    return is_pci(device) && std::ranges::count(name, ':') == 1 ? "0000:" + name : name;
}

}  // namespace sluice::pktgen
