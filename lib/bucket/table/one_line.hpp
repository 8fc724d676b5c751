#pragma once
#include "lib/base/units.hpp"
#include "lib/bucket/meter/color_meter.hpp"
#include "lib/bucket/pool/line_pool.hpp"

#include <array>
#include <cstddef>
#include <cstring>

namespace sluice {

// A whole bucket of an algorithm that keeps it in one line, as another table has it.
struct OneLine {
    std::array<std::byte, kLineBytes> bytes{};
    Instant fresh_from;
};

[[nodiscard]] inline OneLine line_of(const ColorMeter& meter) noexcept {
    OneLine line{.bytes = {}, .fresh_from = meter.fresh_from()};
    static_assert(sizeof(meter) <= sizeof(line.bytes));
    std::memcpy(line.bytes.data(), &meter, sizeof(meter));
    return line;
}

}  // namespace sluice
