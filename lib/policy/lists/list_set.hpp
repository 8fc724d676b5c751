#pragma once
#include "lib/policy/expression/operand_parser.hpp"
#include "lib/policy/expression/value_parser.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

struct ListValues;

// `$name` on the right of `in`: the values of the list, for this operand. nullopt: there is no such
// list, or it does not fit the operand; the reader has the error, at the name's place.
[[nodiscard]] std::optional<RangeSet> list_set(TokenReader& reader, const Operand& operand);

// The first entry for which this holds of its value, by its line, for messages:
// "$name holds "70000" (ports.txt:3)", and how many more there are. nullopt: there is none.
[[nodiscard]] std::optional<std::string> holds_entry(
    std::string_view name, const NamedList& list,
    const std::function<bool(const ListValues&)>& is_bad);
// One of the texts of the list, by its line, for messages.
[[nodiscard]] std::string holds_text(std::string_view name, const NamedList& list,
                                     std::string_view text);

}  // namespace sluice
