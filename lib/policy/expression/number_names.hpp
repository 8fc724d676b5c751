#pragma once
#include "lib/policy/expression/operand_parser.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace sluice {

// A number that has a name too.
struct NumberName {
    std::string_view name;
    std::uint64_t number;
};

// Those of a field of numbers, which stand in quotes; none: its numbers have no names.
[[nodiscard]] std::span<const NumberName> names_of_numbers(const Operand& operand) noexcept;
// Whatever the case of its letters.
[[nodiscard]] std::optional<std::uint64_t> find_number(std::span<const NumberName> names,
                                                       std::string_view name);

}  // namespace sluice
