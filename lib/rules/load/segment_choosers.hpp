#pragma once
#include "lib/match/classifier_parts.hpp"

#include <cstddef>
#include <vector>

namespace sluice {

// By rule: whether its condition tells packets of one connection apart by their headers (flags,
// lengths, TTL, outer addresses), so that it can match some of them and not others. What such a
// rule asks of later layers is known only where all of the connection's packets are read.
[[nodiscard]] std::vector<bool> segment_choosers(const ClassifierParts& parts, std::size_t rules);

}  // namespace sluice
