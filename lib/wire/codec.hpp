#pragma once
#include "lib/base/bytes.hpp"
#include "lib/base/result.hpp"
#include "lib/wire/memory_budget.hpp"
#include "lib/wire/message.hpp"

#include <cstddef>
#include <vector>

// Messages to bytes and back. Every length is checked once, here: what decode_* returns is whole
// and bounded, and a rule set in it has passed find_fault(). Hostile bytes give an Error, never
// more memory than a small multiple of the bytes that came.
namespace sluice {

// Without the 32-bit length that goes before it on the socket.
[[nodiscard]] std::vector<std::byte> encode(const Request& request);
[[nodiscard]] std::vector<std::byte> encode(const Reply& reply);
// The same bytes as the ApplyRules that says this.
[[nodiscard]] std::vector<std::byte> encode(const RulesInForce& rules);
// NoMemory: rules that need more than there is room for, to be decoded, loaded and kept. Nothing of
// that size has been allocated then.
[[nodiscard]] Result<Request> decode_request(ByteView payload, const MemoryBudget& room = {});
// True if it says that it has rules, the only requests for which the room counts.
[[nodiscard]] bool carries_rules(ByteView request) noexcept;
[[nodiscard]] Result<Reply> decode_reply(ByteView payload);

// The rule set alone, as it stands in ApplyRules; its hash is the generation.
[[nodiscard]] std::vector<std::byte> encode(const RuleSet& rules);

// The generation of a rule set: FNV-1a of encode() with generation 0. Never 0.
[[nodiscard]] std::uint64_t generation_of(const RuleSet& rules);

}  // namespace sluice
