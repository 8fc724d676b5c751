#pragma once
#include "lib/packet/packet_headers.hpp"
#include "lib/policy/expression/expression.hpp"

#include <string>
#include <string_view>

namespace sluice {

// The outcome of a condition for one packet, and the leaves that decided.
struct MatchTrace {
    bool holds = false;
    std::string because;  // "l4.dport is 53, not 80 or 443"
};

// Walks the tree as it was written and lists the leaves that decide. For people: the verdict is the
// classifier's. `pair` is the text of the `port` field.
[[nodiscard]] MatchTrace examine(const Expression& condition, const PacketHeaders& headers,
                                 ByteView frame, std::string_view pair);

}  // namespace sluice
