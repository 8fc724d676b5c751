#pragma once
#include "lib/policy/services/service_set.hpp"

#include <vector>

namespace sluice {

// Warns of services that none of their packets reach, since others before them have all; that share
// packets with one of another protocol before them; that take every port as their protocol, or the
// port of their protocol inside of TLS. Of very many services only as many pairs are compared as
// take no time to speak of.
void warn_of_services(const std::vector<PlacedService>& placed, SetPool& pool,
                      const CompiledRules& compiled, Problems& problems);

}  // namespace sluice
