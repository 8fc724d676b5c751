#pragma once
#include "control/explain/bucket_view.hpp"
#include "control/explain/unit_account.hpp"
#include "control/replay/replay_rules.hpp"
#include "lib/engine/burst/burst.hpp"
#include "lib/engine/burst/core_state.hpp"
#include "lib/engine/key/key_policy.hpp"
#include "lib/respond/decision.hpp"
#include "lib/wire/packet_messages.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace sluice {

// A packet on its way, and where it is judged.
struct Scene {
    const ReplayRules& rules;
    std::string_view pair;
    const Burst& burst;  // the packet alone
    const PacketHeaders& headers;
    ByteView frame;
    CoreState& core;
    Now now;
    const PacketState* box = nullptr;  // of the worker that judges instead of `core`; nullptr: none
};

// One limit of a rule, as it applies to the packet.
struct LimitOfRule {
    const LoadedRule& rule;
    const LoadedLimit& limit;

    [[nodiscard]] std::span<const KeyPart> parts() const { return rule.keys[limit.key]; }
};

[[nodiscard]] KeyOverride override_of(const LimitOfRule& asked, const Scene& scene);
[[nodiscard]] OwnNumbers own_numbers(const LimitOfRule& asked, const Scene& scene);
// The cost of the packet, or of its unit of a later layer.
[[nodiscard]] Units cost_of(const LimitOfRule& asked, const Scene& scene);
// The bucket before the packet. nullopt also if a part of its key is missing.
[[nodiscard]] std::optional<BucketView> view(const LimitOfRule& asked, const Scene& scene);
// The finding of the box's worker about one of the rule's limits; nullptr: none.
[[nodiscard]] const FoundLimit* told_of(const LimitOfRule& asked, const Scene& scene);
[[nodiscard]] Decision decision_of(const DecisionState& told);
// A scene of the same packet with other headers, which live longer than it does.
[[nodiscard]] Scene of_headers(const Scene& scene, const PacketHeaders& headers);
[[nodiscard]] NamedTexts texts_of(const UnitTexts* unit, const TextNames& names);

}  // namespace sluice
