#pragma once
#include "control/daemon/api/api.hpp"
#include "control/json.hpp"

#include <optional>
#include <string>

namespace sluice {

// The box's standing in its cluster: {"name":…,"node":…,"state":"member",…}; null: it is in none.
[[nodiscard]] Json cluster_json(const Services& services);
[[nodiscard]] std::string cluster_metrics(const Services& services);
// The answer to a change of this box's rules alone, where they are the cluster's and the call has
// no `detach=1`; nullopt: it may be made.
[[nodiscard]] std::optional<HttpResponse> refuse_undetached(const HttpRequest& request,
                                                            const Services& services);

// The name of the cluster of a box whose change is of this box alone; null: it is in none.
[[nodiscard]] Json cluster_name_json(const Services& services);

}  // namespace sluice
