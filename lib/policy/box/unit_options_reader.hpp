#pragma once
#include "lib/policy/yaml/map_reader.hpp"
#include "lib/rules/unit_options.hpp"

namespace sluice {

// `connections`, `fragments`, `http` and `quic_initials` of `packets` in sluice.yaml; what is not
// there stays.
void read_unit_options(const MapReader& packets, const ReadContext& context, UnitOptions& into);

}  // namespace sluice
