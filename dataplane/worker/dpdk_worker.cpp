#include "dataplane/worker/dpdk_worker.hpp"

namespace sluice {

static_assert(PacketIo<DpdkIo>);
static_assert(PacketProxy<DpdkIo::Proxy>);
static_assert(WorkerHost<LcoreHost>);

template class Worker<DpdkIo, LcoreHost>;

}  // namespace sluice
