#pragma once
#include "lib/policy/expression/operand_parser.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sluice {

struct NamedList;

// The value of tls.handshake.type (RFC 8446, 4): of handshakes, a ClientHello alone is a unit.
inline constexpr std::uint64_t kClientHello = 1;

// The right side of a comparison.
struct RangeSet {
    std::vector<NumberRange> numbers;
    std::vector<AddressRange> v4;
    std::vector<AddressRange> v6;
    std::vector<std::string> texts;
    bool not_built = false;           // a list whose values are not known
    const NamedList* list = nullptr;  // that they are those of
};

// One value of the operand's kind: 443, 0x0806, 10.0.0.0/8, aa:bb:cc:dd:ee:ff, "in".
[[nodiscard]] std::optional<RangeSet> parse_value(TokenReader& reader, const Operand& operand);

// `{a b c}` or `$name`.
[[nodiscard]] std::optional<RangeSet> parse_set(TokenReader& reader, const Operand& operand);

// The largest value of a field of numbers.
[[nodiscard]] std::uint64_t most_of(const Operand& operand) noexcept;

// The number that stands for one text of a Name field; nullopt: it is none of its words.
[[nodiscard]] std::optional<std::uint64_t> number_of_name(const Operand& operand,
                                                          std::string_view text);
// Why a text is no value of a Country field, and what was probably meant.
[[nodiscard]] std::string not_a_country(const Operand& operand, std::string_view text);
// The words of a Name field; none: it takes any.
[[nodiscard]] std::span<const std::string_view> words_of(const Operand& operand);

}  // namespace sluice
