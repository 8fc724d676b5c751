#pragma once
#include "control/daemon/http.hpp"
#include "control/web/asset.hpp"

#include <span>

namespace sluice {

// Answers what is not of the API: a file of the dashboard's page by its path in the table, which is
// all that a path can name. Without any, `/` says how sluiced is built with it.
[[nodiscard]] HttpResponse answer_asset(const HttpRequest& request,
                                        std::span<const WebAsset> assets);

}  // namespace sluice
