#pragma once
#include "control/json.hpp"
#include "control/replay/replay_rules.hpp"
#include "lib/base/result.hpp"
#include "lib/rules/packet_treatment.hpp"
#include "lib/wire/packet_messages.hpp"

#include <string>

namespace sluice {

// A packet that a box's worker was asked about, and its answer.
struct AskedPacket {
    const AskPacket& ask;
    const PacketState& state;
    PacketTreatment treatment;  // of packets, by the box
    std::string pair;           // that the packet would come in at
    bool tells_lists = true;    // else of conditions that read lists no reason is told
};

struct AskedAccount {
    Json json;         // account_json()
    std::string text;  // account_text()
};

// The account of the packet in the words of the rules that the worker has decided it by. Refused:
// it has decided by others. Rules are for one packet at a time.
[[nodiscard]] Result<AskedAccount> asked_account(const AskedPacket& packet,
                                                 const ReplayRules& rules);

}  // namespace sluice
