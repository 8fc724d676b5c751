#include "lib/policy/placement/rss_mapping.hpp"

#include "lib/base/device_text.hpp"

namespace sluice {
namespace {

// All lcores but the first; where none are given, one of each.
std::size_t workers_of(const BoxConfig& box) {
    const std::size_t lcores = box.lcores.empty() ? 2 : count_lcores(box.lcores);
    return lcores < 2 ? 1 : lcores - 1;
}

PortRssMapping spread_of(const PairConfig& pair, Direction dir, std::size_t workers,
                         std::size_t place) {
    using By = PortRssMapping::By;
    const PortConfig& port = dir == Direction::In ? pair.outside : pair.inside;
    PortRssMapping spread{.pair = pair.name, .dir = dir, .by = By::OneWorker, .rss = port.rss};
    const bool hashes = is_pci(pair.outside.device) && is_pci(pair.inside.device) &&
                        pair.outside.queues != 1U && pair.inside.queues != 1U;
    if (workers == 1) {
        return spread;
    }
    if (pair.hand_over && (!hashes || spread.rss == Rss::SourcePrefix)) {
        spread.by = By::Handover;
    } else if (hashes) {
        spread.by = By::Port;
        spread.rss = spread.rss == Rss::SourcePrefix ? Rss::Source : spread.rss;
    } else if (pair.outside.queues.value_or(1) == 1 || pair.inside.queues.value_or(1) == 1) {
        spread.way = place % workers;
    } else {
        spread.by = By::Unknown;
    }
    return spread;
}

}  // namespace

RssMapping spread_of(const BoxConfig& box) {
    const std::size_t workers = workers_of(box);
    RssMapping spread{.ports = {},
                      .tunnels = box.tunnels.gre || box.tunnels.vxlan || box.tunnels.ipip,
                      .workers = workers,
                      .merge_interval = box.merge_interval};
    for (std::size_t place = 0; place < box.pairs.size(); ++place) {
        for (const Direction dir : {Direction::In, Direction::Out}) {
            spread.ports.push_back(spread_of(box.pairs[place], dir, workers, place));
        }
    }
    spread.ports = spread.ports.empty() ? usual_spread().ports : spread.ports;
    return spread;
}

}  // namespace sluice
