#pragma once
#include "lib/packet/ip_address.hpp"

#include <cstdint>

namespace sluice {

struct NumberRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;  // inclusive
};

// Addresses of one version, first to last, inclusive, in network byte order.
struct AddressRange {
    IpAddress first;
    IpAddress last;
};

}  // namespace sluice
