#pragma once
#include "dataplane/port/port.hpp"
#include "dataplane/worker/quiesce.hpp"

#include <functional>

namespace sluice {

// A pair of started ports, as the main lcore sees it.
struct PortPair {
    Port outside;
    Port inside;
    rte_mempool* pool = nullptr;  // both ports receive into it
    bool link_follow = true;
    bool told_unsupported = false;  // that a side cannot be taken down, said once
    // The kernel goes on forwarding between them when the process ends: they stay as they are.
    bool stays_in_kernel = false;
};

// Reads both links, tells the workers, and lets each side follow the other. A port whose interface
// is gone is down. What is about to change at an interface is kept first, for the next process.
using KeepChanges = std::function<void()>;
void watch_links(PortPair& pair, QuiesceBoard& board, const KeepChanges& keep);

// Brings back up what is held down, before the end. A side that does not come up stays held_down.
void release_links(PortPair& pair);

}  // namespace sluice
