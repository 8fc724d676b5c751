#pragma once
#include "lib/rules/rule_set.hpp"

#include <string>

namespace sluice {

// The parts that two keys share: packets that differ in them differ in both keys. Of an address,
// the shorter prefix; of a text, small letters if one of them has it so.
[[nodiscard]] GroupingKey common_parts(const GroupingKey& a, const GroupingKey& b);

// The parts as a rule file has them: "prefix(ip.src, 24|64), l4.dport".
[[nodiscard]] std::string parts_text(const GroupingKey& parts, const TextNames& names = {});

}  // namespace sluice
