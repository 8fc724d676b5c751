#pragma once
#include "tests/model/connection_model.hpp"

namespace sluice::test {

inline constexpr StickyVerdict kPass{1};
inline constexpr StickyVerdict kDrop{0x81};

// A unit of the toy protocol.
[[nodiscard]] inline std::string toy_unit(char fill, std::size_t head, std::size_t body = 0) {
    std::string unit{'H', static_cast<char>(head), static_cast<char>(body)};
    return unit.append(head - kToyHead, fill).append(body, 'b');
}

[[nodiscard]] inline Instant at_second(int second) {
    return Instant{std::chrono::seconds{second}};
}

}  // namespace sluice::test
