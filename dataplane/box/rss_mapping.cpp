#include "dataplane/box/dataplane.hpp"

namespace sluice {
namespace {

// What leads from a hash to a worker: two cards of one kind with as many queues do it alike.
std::uint64_t way_of(const Port& port, std::size_t pair, std::size_t workers) {
    const std::size_t first = port.queues == workers ? 0 : pair;
    return port_name(port.driver + "/" + std::to_string(port.table) + "/" +
                     std::to_string(port.queues) + "/" + std::to_string(first));
}

PortRssMapping::By who_spreads(const Port& port, std::size_t workers) {
    using By = PortRssMapping::By;
    if (workers == 1 || (port.queues == 1 && !port.handed)) {
        return By::OneWorker;
    }
    if (port.handed) {
        return By::Handover;
    }
    return port.hashes ? By::Port : By::Unknown;
}

}  // namespace

RssMapping Dataplane::rss_mapping() const {
    const std::size_t workers = lcores_.size();
    const Tunnels& tunnels = box_.tunnels;
    RssMapping rss_mapping{.ports = {},
                           .tunnels = tunnels.gre || tunnels.vxlan || tunnels.ipip,
                           .workers = workers,
                           .merge_interval = box_.merge_interval};
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
        const auto add = [&](const Port& port, Direction dir) {
            PortRssMapping one{.pair = port.pair, .dir = dir, .by = who_spreads(port, workers)};
            one.rss = port.handed ? port.asked : port.hashes.value_or(Rss::Source);
            if (one.by == PortRssMapping::By::Port) {
                one.way = way_of(port, p, workers);
            } else if (one.by == PortRssMapping::By::OneWorker) {
                one.way = owner_of(p, queues_[p], 0, workers);
            }
            rss_mapping.ports.push_back(std::move(one));
        };
        add(pairs_[p]->outside, Direction::In);
        add(pairs_[p]->inside, Direction::Out);
    }
    return rss_mapping;
}

}  // namespace sluice
