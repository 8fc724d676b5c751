#include "lib/rules/service_rss_mapping.hpp"

#include <algorithm>

namespace sluice {
namespace {

bool meet(const PortRssMapping& outside, const PortRssMapping& inside) noexcept {
    if (outside.by != inside.by || outside.way != inside.way ||
        outside.by == PortRssMapping::By::Unknown) {
        return false;
    }
    return outside.by == PortRssMapping::By::OneWorker || mirror_of(outside.rss) == inside.rss;
}

std::string why(const PortRssMapping& outside, const PortRssMapping& inside) {
    const std::string pair = outside.pair.empty() ? "" : " of pair `" + outside.pair + "`";
    if (outside.by == PortRssMapping::By::Unknown || inside.by == PortRssMapping::By::Unknown) {
        return "how the ports" + pair + " spread frames over workers is not known; ";
    }
    return "outside" + pair + " spreads by " +
           std::string{kRssNames[static_cast<std::size_t>(outside.rss)]} + ", inside by " +
           std::string{kRssNames[static_cast<std::size_t>(inside.rss)]} +
           ", so that the directions of a connection come to different workers; ";
}

}  // namespace

std::optional<std::string> find_split(const RssMapping& box) {
    if (box.workers < 2) {
        return std::nullopt;
    }
    for (const PortRssMapping& outside : box.ports) {
        if (outside.dir != Direction::In || outside.pair.empty()) {
            continue;
        }
        const auto inside =
            std::find_if(box.ports.begin(), box.ports.end(), [&](const PortRssMapping& other) {
                return other.dir == Direction::Out && other.pair == outside.pair;
            });
        if (inside != box.ports.end() && !meet(outside, *inside)) {
            return why(outside, *inside) +
                   "`rss: source` outside needs `rss: destination` inside, or `symmetric` on both; "
                   "or give the service `path: inbound`";
        }
    }
    return std::nullopt;
}

}  // namespace sluice
