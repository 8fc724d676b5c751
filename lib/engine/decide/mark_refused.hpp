#pragma once
#include "lib/engine/burst/evaluated_packet.hpp"
#include "lib/rules/load/loaded_set.hpp"

namespace sluice {

// Marks the rules that have refused a packet that the general path has decided
// (ActiveRule::refused), and, while keys are watched, the limits of these that had no room for it
// (Scratch::refuses).
void mark_refused(const PacketChecks& packet, const LoadedSet& set, bool watched) noexcept;

}  // namespace sluice
