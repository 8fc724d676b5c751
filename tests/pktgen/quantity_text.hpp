#pragma once
#include "lib/base/result.hpp"
#include "tests/pktgen/source_space.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice::pktgen {

// `1000`, `2.5M`, `1.5Mpps`: frames a second. `10Gbit`: bits a second on the wire, with preamble
// and gap. `line`: those of the port's link. `max`: as fast as the port takes them.
struct Rate {
    enum class Unit : std::uint8_t { Packets, Bits, Line, Max };
    Unit unit = Unit::Max;
    double per_second = 0;
    [[nodiscard]] bool operator==(const Rate&) const noexcept = default;
};
// A decimal number within bounds, both included: no `nan`, `inf`, sign or exponent.
[[nodiscard]] Result<double> read_within(std::string_view text, double least, double most);
[[nodiscard]] Result<Rate> read_rate(std::string_view text);

// `64` to `1522`, or `imix`, which is 0 here.
inline constexpr std::size_t kImixSize = 0;
[[nodiscard]] Result<std::size_t> read_size(std::string_view text);

// `1024`, `2^20`, `1M` (2^20), `new`.
[[nodiscard]] Result<SourceCount> read_sources(std::string_view text);

// `10`, `10s`, `500ms`, `2m`, `1h`: in seconds, up to a day.
[[nodiscard]] Result<double> read_duration(std::string_view text);

// `1000`, `5k`, `2M`, `1G`.
[[nodiscard]] Result<std::uint64_t> read_count(std::string_view text);

}  // namespace sluice::pktgen
