#include "lib/policy/placement/rss_mapping.hpp"

#include "lib/base/device_text.hpp"

namespace sluice {
namespace {

// All lcores but the first; where none are given, one of each.
std::size_t workers_of(const BoxConfig& box) {
    const std::size_t lcores = box.lcores.empty() ? 2 : count_lcores(box.lcores);
    return lcores < 2 ? 1 : lcores - 1;
}

PortRssMapping rss_mapping_of(const PairConfig& pair, Direction dir, std::size_t workers,
                              std::size_t place) {
    using By = PortRssMapping::By;
    const PortConfig& port = dir == Direction::In ? pair.outside : pair.inside;
    PortRssMapping rss_mapping{.pair = pair.name, .dir = dir, .by = By::OneWorker, .rss = port.rss};
    const bool hashes = is_pci(pair.outside.device) && is_pci(pair.inside.device) &&
                        pair.outside.queues != 1U && pair.inside.queues != 1U;
    if (workers == 1) {
        return rss_mapping;
    }
    if (pair.hand_over && (!hashes || rss_mapping.rss == Rss::SourcePrefix)) {
        rss_mapping.by = By::Handover;
    } else if (hashes) {
        rss_mapping.by = By::Port;
        rss_mapping.rss = rss_mapping.rss == Rss::SourcePrefix ? Rss::Source : rss_mapping.rss;
    } else if (pair.outside.queues.value_or(1) == 1 || pair.inside.queues.value_or(1) == 1) {
        rss_mapping.way = place % workers;
    } else {
        rss_mapping.by = By::Unknown;
    }
    return rss_mapping;
}

}  // namespace

BoxCluster cluster_of(const std::optional<ClusterOptions>& cluster) {
    using Kind = BoxCluster::Kind;
    if (!cluster) {
        return {.kind = Kind::None};
    }
    return {.kind = cluster->store ? Kind::Member : Kind::Storeless,
            .size = cluster->size,
            .sync = cluster->sync};
}

RssMapping rss_mapping_of(const BoxConfig& box) {
    const std::size_t workers = workers_of(box);
    RssMapping rss_mapping{.ports = {},
                           .tunnels = box.tunnels.any(),
                           .workers = workers,
                           .merge_interval = box.merge_interval,
                           .cluster = cluster_of(box.cluster)};
    for (std::size_t place = 0; place < box.pairs.size(); ++place) {
        for (const Direction dir : {Direction::In, Direction::Out}) {
            rss_mapping.ports.push_back(rss_mapping_of(box.pairs[place], dir, workers, place));
        }
    }
    rss_mapping.ports = rss_mapping.ports.empty() ? usual_rss_mapping().ports : rss_mapping.ports;
    return rss_mapping;
}

}  // namespace sluice
