#include "dataplane/control/serve.hpp"

#include "dataplane/control/control_server.hpp"
#include "dataplane/privileges.hpp"
#include "lib/base/log.hpp"

#include <systemd/sd-daemon.h>

namespace sluice {

Result<Done> serve(Dataplane& dataplane, const BoxConfig& box,
                   const volatile std::sig_atomic_t& asked_to_stop) {
    SocketOptions socket = box.dataplane;
    socket.owner = socket.owner.empty() ? box.user : socket.owner;
    Result<ControlServer> server = ControlServer::listen(socket, dataplane);
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
        dataplane.keep_house();
        (void)sd_notify(0, "WATCHDOG=1");
    }
    (void)sd_notify(0, "STOPPING=1");
    log_info("stopping");
    return Done{};
}

}  // namespace sluice
