#pragma once
#include "lib/base/kept_zone.hpp"
#include "lib/base/result.hpp"
#include "lib/base/units.hpp"
#include "lib/bucket/meter/limit.hpp"
#include "lib/rules/rule_set.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

enum class ParameterKind : std::uint8_t {
    Rate,      // `50/s`; of bytes also `20Mbit/s`
    Amount,    // a count of units; a size, of bytes
    Duration,  // `60s`
    Offset,    // from UTC: `+03:00`
    Zone,      // by name: `Europe/Moscow`
    Number,    // without a unit, up to `most`
    Word,      // one of `words`
    Field,     // of packets, as a key has it
};

// One parameter of an algorithm: a row of the table of algorithms.
struct Parameter {
    std::string_view name;
    ParameterKind kind = ParameterKind::Amount;
    bool required = true;
    std::span<const std::string_view> words{};  // of a Word; the first is the default
    std::uint64_t usual = 0;                    // default of a Number
    std::uint64_t most = 0;                     // largest Number
    std::string_view variant{};                 // the one `variant` that has it; empty: any
};

// The value that a parameter is set to. The number of the parameter's kind counts.
struct ParameterValue {
    ParameterKind kind{};
    std::string text;  // as written; a default in the same spelling
    bool given = true;
    Rate rate{};
    Units units{};
    Nanoseconds time{};
    KeptZone zone{};
    std::uint64_t number = 0;  // of a Word its index
};
using ParameterValues = std::map<std::string_view, ParameterValue>;  // by the parameter's name

// The value that `text` spells. Errors (BadSyntax, OutOfRange) name what was expected.
[[nodiscard]] Result<ParameterValue> parse_parameter(const Parameter& parameter,
                                                     std::string_view text, Per per);

// The value of a parameter that is not given.
[[nodiscard]] ParameterValue default_value(const Parameter& parameter);

}  // namespace sluice
