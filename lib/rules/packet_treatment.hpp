#pragma once
#include "lib/packet/parse.hpp"
#include "lib/rules/unit_options.hpp"
#include "lib/rules/verdict.hpp"

namespace sluice {

// A box's treatment of packets whatever its rules are: `packets:` of its sluice.yaml.
struct PacketTreatment {
    MalformedPolicy malformed = MalformedPolicy::Drop;
    Tunnels tunnels{};
    UnitOptions units{};
};

}  // namespace sluice
