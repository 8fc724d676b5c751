#pragma once
#include "control/daemon/api/api.hpp"

#include <memory>
#include <string_view>

namespace sluice {

// The rules in force as whoever asks may know them: somebody of a tenant those of the tenant alone,
// with the settings of their keys, as if there were no others. Its tag is a sum of these; the
// generation alone is the box's, since the dataplane is asked by it.
[[nodiscard]] std::shared_ptr<const RuleView> view_for(const HttpRequest& request,
                                                       const Services& services);
[[nodiscard]] RuleView view_of_tenant(const RuleView& all, std::string_view tenant);

// Takes out of an answer what tells of the whole box: its generation, by which every change of
// anybody's rules could be seen.
void hide_generation(HttpResponse& response);

}  // namespace sluice
