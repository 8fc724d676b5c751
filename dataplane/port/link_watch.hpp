#pragma once
#include "dataplane/port/port.hpp"
#include "dataplane/worker/quiesce.hpp"

namespace sluice {

// A pair of started ports, as the main lcore sees it.
struct PortPair {
    Port outside;
    Port inside;
    rte_mempool* pool = nullptr;  // both ports receive into it
    bool link_follow = true;
    bool told_unsupported = false;  // that a side cannot be taken down, said once
};

// Reads both links, tells the workers, and lets each side follow the other. A port whose interface
// is gone is down.
void watch_links(PortPair& pair, QuiesceBoard& board);

// Brings back up what is held down, before the end.
void release_links(PortPair& pair);

}  // namespace sluice
