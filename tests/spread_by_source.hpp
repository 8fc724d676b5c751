#pragma once
#include "lib/rules/port_rss_mapping.hpp"

namespace sluice::test {

// A box of several workers whose ports all hash the source, so that a key of it is counted by one.
inline RssMapping spread_by_source() {
    RssMapping box = usual_spread();
    for (PortRssMapping& port : box.ports) {
        port.rss = Rss::Source;
    }
    return box;
}

}  // namespace sluice::test
