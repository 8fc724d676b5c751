#pragma once
#include "control/json.hpp"

#include <fmt/format.h>

#include <string>

namespace sluice {

// A line of an answer to a change that no cluster brings to its other boxes; empty: the box is in
// none.
[[nodiscard]] inline std::string alone_text(const Json& answer) {
    const Json cluster = answer.value("alone_in_cluster", Json());
    return cluster.is_string() ? fmt::format(
                                     "on this box alone: the other boxes of the cluster {} "
                                     "go on as before\n",
                                     cluster.get<std::string>())
                               : "";
}

}  // namespace sluice
