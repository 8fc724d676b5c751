#pragma once
#include "lib/policy/clauses/clause.hpp"

namespace sluice {

// Segments of TCP of which the flags `set` are set, and those of `clear` are not; of others any may
// be. Both are of kTcpSyn, kTcpAck and kTcpRst.
[[nodiscard]] Clause segments_with(unsigned set, unsigned clear, SetPool& pool);

}  // namespace sluice
