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

// A line of an answer to a change that is for all boxes of the cluster; empty: it is not.
[[nodiscard]] inline std::string cluster_change_text(const Json& answer) {
    const Json cluster = answer.value("cluster", Json());
    if (!cluster.is_object()) {
        return "";
    }
    const Json& number = cluster.at("number");
    const auto left = cluster.value("left", std::size_t{0});
    return fmt::format(
        "on all boxes of the cluster {}{}; `sluicectl nodes` names those behind\n{}",
        text_at(cluster, "name"), number.is_null() ? "" : fmt::format(": change {}", number.dump()),
        left == 0 ? ""
                  : fmt::format("{} keys stay in penalty boxes of the other boxes: the cluster has "
                                "no room for more acts; try again in ten minutes\n",
                                left));
}

}  // namespace sluice
