#pragma once
#include "dataplane/port/link_watch.hpp"

namespace sluice {

// Reads the MTU of both interfaces of a pair, which anybody may change while it runs: `Port::mtu`
// and the frames that may leave by it follow, and the log says each change. Three system calls for
// each side.
void watch_mtus(PortPair& pair);

}  // namespace sluice
