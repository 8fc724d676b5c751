#pragma once
#include "lib/policy/operand_parser.hpp"

#include <optional>
#include <vector>

namespace sluice {

// The right side of a comparison.
struct ValueSet {
    std::vector<NumberRange> numbers;
    std::vector<AddressRange> v4;
    std::vector<AddressRange> v6;
    bool not_built = false;  // a list by name
};

// One value of the operand's kind: 443, 0x0806, 10.0.0.0/8, aa:bb:cc:dd:ee:ff, "in".
[[nodiscard]] std::optional<ValueSet> parse_value(TokenReader& reader, const Operand& operand);

// `{a b c}` or `$name`.
[[nodiscard]] std::optional<ValueSet> parse_set(TokenReader& reader, const Operand& operand);

}  // namespace sluice
