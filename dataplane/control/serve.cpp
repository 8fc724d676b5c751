#include "dataplane/control/serve.hpp"

#include "dataplane/control/control_server.hpp"
#include "dataplane/control/dataplane_requests.hpp"
#include "lib/base/device_text.hpp"
#include "lib/base/log.hpp"
#include "lib/confine/confine.hpp"

#include <linux/capability.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

namespace sluice {
namespace {

bool is_anothers(const std::string& folder) {
    struct stat info{};
    return ::stat(folder.c_str(), &info) == 0 && info.st_uid != ::geteuid();
}

// Capabilities that the box's ports need while they run: their interfaces are watched, taken down
// and up, and opened again; and what its folders need, where they are another user's. By number
// (CAP_…).
std::vector<unsigned> capabilities_for(const BoxConfig& box) {
    std::vector<unsigned> needed{CAP_NET_ADMIN, CAP_NET_RAW, CAP_IPC_LOCK};
    for (const PairConfig& pair : box.pairs) {
        for (const std::string* device : {&pair.outside.device, &pair.inside.device}) {
            if (device->starts_with("net_af_xdp")) {
                // Taking an interface up again loads a program, and asks the kernel for one by its
                // number, which is CAP_SYS_ADMIN's; its memory is locked beyond the limit.
                needed.insert(needed.end(), {CAP_BPF, CAP_SYS_ADMIN, CAP_SYS_RESOURCE});
            } else if (is_pci(*device)) {
                needed.push_back(CAP_SYS_RAWIO);
            }
        }
    }
    const std::string& snapshot = box.snapshot_file;
    const bool elsewhere =
        !snapshot.empty() && is_anothers(snapshot.substr(0, snapshot.rfind('/') + 1));
    if (is_anothers(box.state_dir) || elsewhere) {
        needed.push_back(CAP_DAC_OVERRIDE);
    }
    return needed;
}

// Once ports, state and control socket are open: gives up every other capability, new privileges,
// and the system calls that a dataplane has no use for, for all threads and for good.
Result<Done> give_up_privileges(const BoxConfig& box) {
    if (const Result<Done> done = keep_capabilities(capabilities_for(box)); !done) {
        return done.error();
    }
    return refuse_system_calls(Programs::No);
}

}  // namespace

Result<Done> serve(Dataplane& dataplane, const BoxConfig& box,
                   const volatile std::sig_atomic_t& asked_to_stop) {
    SocketOptions socket = box.dataplane;
    socket.owner = socket.owner.empty() ? box.user : socket.owner;
    DataplaneRequests requests{dataplane};
    Result<ControlServer> server = ControlServer::listen(socket, requests);
    if (!server) {
        return server.error();
    }
    if (const Result<Done> done = give_up_privileges(box); !done) {
        return done.error();
    }
    (void)sd_notify(0, "READY=1");
    log_info("running");
    while (asked_to_stop == 0) {
        constexpr std::chrono::milliseconds kTick{100};
        server->serve(kTick);
        dataplane.tick();
        (void)sd_notify(0, "WATCHDOG=1");
    }
    (void)sd_notify(0, "STOPPING=1");
    log_info("stopping");
    return Done{};
}

}  // namespace sluice
