#pragma once
#include "lib/engine/burst/evaluated_packet.hpp"
#include "lib/engine/check/check_limit.hpp"
#include "lib/engine/remote/reserve_client.hpp"

#include <cstddef>
#include <span>

// Limits whose keys' owners are asked (lib/peer/reserve), where a packet is judged.
namespace sluice {

// Checks as check_limit() does other limits: by the owner's answer, or as if it said yes. Without
// an answer the rule's on_full decides.
void check_asked(LimitCheck& check, const LoadedLimit& limit, const LoadedRule& rule,
                 const CheckContext& context) noexcept;

// And commit(): what was reserved is charged, or it is not.
struct AskedCheck {
    const LimitCheck& check;
    const LoadedLimit& limit;
    const LoadedRule& rule;
};
void settle_asked(const AskedCheck& asked, const CheckContext& context, bool spends,
                  bool rejected) noexcept;

// True if some limit that judges the packet is asked of its owner.
[[nodiscard]] bool asks_owners(const PacketChecks& packet, const LoadedSet& set) noexcept;

// True if a budget of `bypass` that matches is: what it says comes before what rules say.
[[nodiscard]] bool asks_budgets(const PacketChecks& packet, const LoadedSet& set) noexcept;

// The questions that a dry run has found; more than a packet may ask: SIZE_MAX.
[[nodiscard]] std::size_t list_questions(const PacketChecks& packet, const LoadedSet& set,
                                         const KeyHasher& hash,
                                         std::span<WantedQuestion, kMaxQuestions> to) noexcept;

}  // namespace sluice
