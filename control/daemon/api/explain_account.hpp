#pragma once
#include "control/daemon/dataplane_link.hpp"
#include "control/daemon/http.hpp"
#include "control/daemon/rule_change.hpp"
#include "control/explain/asked_account.hpp"

#include <memory>
#include <string>
#include <vector>

namespace sluice {

// A question that `state` has answered, under the rules of `view`.
struct AnsweredQuestion {
    const AskPacket& ask;
    const PacketState& state;
    const std::shared_ptr<const RuleView>& view;
    bool tells_lists = true;  // else of conditions that read lists no reason is told
};

// The rules are compiled once more for it. Whoever calls it has a turn (ExplainTurns). Refused: the
// answer is of other rules; NoMemory: there is none to compile them.
[[nodiscard]] Result<AskedAccount> explain_packet(const AnsweredQuestion& packet,
                                                  const DataplaneLink& link);

// The answer where there is no account. TooMany: no turn.
[[nodiscard]] HttpResponse not_explained(const Error& error);

// Forgets compiled rules that are not in force or have not been asked for; to be called now and
// then.
void forget_explained(const std::shared_ptr<const RuleView>& in_force);

// For people: where a decision is not just what it seems.
[[nodiscard]] std::vector<std::string> explain_notes(const AnsweredQuestion& packet);

}  // namespace sluice
