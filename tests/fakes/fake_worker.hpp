#pragma once

namespace sluice {

struct AskPacket;
struct PacketState;
struct RuleSet;

// The answer of a worker that has seen no packet, about one that has not come.
[[nodiscard]] PacketState fake_answer(const AskPacket& ask, const RuleSet& rules);

}  // namespace sluice
