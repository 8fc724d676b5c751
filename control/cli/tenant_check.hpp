#pragma once
#include "control/cli/exit_code.hpp"
#include "control/cli/options.hpp"

namespace sluice {

// `check --tenant NAME --config SLUICE_YAML`: a tenant's rules within what sluice.yaml gives it, as
// sluiced takes or refuses them.
ExitCode check_tenant(const Options& options);
// `check` of the rules of a whole set.
ExitCode check_set(const Options& options);

}  // namespace sluice
