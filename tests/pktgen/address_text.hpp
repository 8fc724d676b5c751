#pragma once
#include "lib/base/result.hpp"
#include "tests/pktgen/frame_template.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace sluice::pktgen {

struct Destination {
    Family family = Family::V4;
    std::uint32_t v4 = 0;
    std::array<std::uint64_t, 2> v6{};
};
[[nodiscard]] Result<Destination> read_destination(std::string_view text);
void take(const Destination& destination, Route& route);

// `02:00:00:00:00:02`.
[[nodiscard]] Result<std::array<std::uint8_t, 6>> read_mac(std::string_view text);

}  // namespace sluice::pktgen
