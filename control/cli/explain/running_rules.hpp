#pragma once
#include "control/cli/daemon.hpp"
#include "control/cli/replay/replay_rules.hpp"
#include "lib/rules/packet_treatment.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace sluice {

// The rules in force on a box, compiled again from what sluiced holds: the text as applied, with
// the modes and settings of single keys since, and the lists as they were read.
struct HeldRules {
    ReplayRules rules;
    std::string generation;
    std::string file;
    std::optional<PacketTreatment> treatment;  // of the box; nullopt: sluiced does not know it
    std::vector<std::string> pairs;            // of ports
    std::vector<std::string> notes;            // where the files of lists are not what is in force
};

[[nodiscard]] std::variant<HeldRules, DaemonRefusal> running_rules(const Options& options);

}  // namespace sluice
