#pragma once
#include "dataplane/io/dpdk_io.hpp"
#include "dataplane/worker/lcore_host.hpp"
#include "lib/engine/worker.hpp"

namespace sluice {

// The worker that the box runs. It is compiled once, in dpdk_worker.cpp.
using DpdkWorker = Worker<DpdkIo, LcoreHost>;
extern template class Worker<DpdkIo, LcoreHost>;

}  // namespace sluice
