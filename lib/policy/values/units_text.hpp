#pragma once
#include "lib/base/result.hpp"
#include "lib/base/units.hpp"
#include "lib/bucket/meter/limit.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

// Numbers as people write them in rule files and sluice.yaml. K (or k), M and G are 1000-based in
// rates and counts; Ki, Mi and Gi (1024-based) are for bytes. Every error names what was expected,
// with an example.
namespace sluice {

// `50/s 300/m 10/h 1/d`; for bytes also `20Mbit/s 5MB/s`.
[[nodiscard]] Result<Rate> parse_rate(std::string_view text, Per per);

// `200`, `4K`: things counted one by one.
[[nodiscard]] Result<Units> parse_count(std::string_view text);

// `1500B 64KB 256KiB`.
[[nodiscard]] Result<Units> parse_size(std::string_view text);

// `500us 10ms 60s 15m 1h 1d`.
[[nodiscard]] Result<Nanoseconds> parse_duration(std::string_view text);

// `+03:00`, from -23:59 to +23:59. nullopt: it is not one.
[[nodiscard]] std::optional<Nanoseconds> parse_utc_offset(std::string_view text);

// A decimal number without sign, leading zero, prefix or unit, up to `max`.
[[nodiscard]] Result<std::uint64_t> parse_number(std::string_view text, std::uint64_t max);

}  // namespace sluice
