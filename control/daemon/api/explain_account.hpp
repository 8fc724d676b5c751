#pragma once
#include "control/daemon/dataplane_link.hpp"
#include "control/daemon/rule_change.hpp"
#include "control/explain/asked_account.hpp"

#include <string>
#include <vector>

namespace sluice {

// `ask` has been answered by `state` under the rules of `view`. These are compiled once more, for
// one packet at a time, since what is in force is kept without its conditions. TooMany: others are
// being explained, or there is no memory for it.
[[nodiscard]] Result<AskedAccount> explain_packet(const AskPacket& ask, const PacketState& state,
                                                  const RuleView& view, const DataplaneLink& link);

// For people: where a decision is not just what it seems.
[[nodiscard]] std::vector<std::string> explain_notes(const PacketState& state,
                                                     const RuleView& view);

}  // namespace sluice
