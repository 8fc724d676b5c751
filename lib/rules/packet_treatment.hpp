#pragma once
#include "lib/l7/stream/unit_options.hpp"
#include "lib/packet/parse.hpp"
#include "lib/packet/verdict.hpp"

namespace sluice {

// A box's treatment of packets whatever its rules are: `packets:` of its sluice.yaml.
struct PacketTreatment {
    MalformedPolicy malformed = MalformedPolicy::Drop;
    Tunnels tunnels{};
    UnitOptions units{};
};

}  // namespace sluice
