#pragma once
#include "control/daemon/heatmap/heat_store.hpp"

#include <string>
#include <vector>

namespace sluice {

// A value that many groups of a cell have, and few of the others.
struct SharedFact {
    std::string field;
    std::string value;
    double here = 0;  // the part of the named groups of the cell that have it
    double rest = 0;  // of the others
};

// Values that the named groups of a cell share against the rest of its column, those that tell most
// apart first. Addresses are also told by their networks; what payloads say only `with_payloads`.
[[nodiscard]] std::vector<SharedFact> shared_facts(const std::vector<const HeatName*>& here,
                                                   const std::vector<const HeatName*>& rest,
                                                   bool with_payloads);

// True of a field that a payload says, and not the headers or a database.
[[nodiscard]] bool is_of_payload(const std::string& field);

}  // namespace sluice
