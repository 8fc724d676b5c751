#pragma once
#include "dataplane/port/port.hpp"
#include "dataplane/worker/quiesce.hpp"

namespace sluice {

// A port whose interface was deleted under it is away until one of that name is there again:
//
//   Here -- its interface is gone --> Leaving -- every worker has let go of it --> Away
//    ^                                                                               |
//    '------- an interface of that name is there, and the port has started ----------'
//
// The port keeps its number, so lanes stay as they are. Asked about every 100 ms, without waiting.
void watch_presence(Port& port, QuiesceBoard& board);

}  // namespace sluice
