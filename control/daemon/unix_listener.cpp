#include "control/daemon/unix_listener.hpp"

#include <unistd.h>

namespace sluice {

Result<UnixListener> UnixListener::open(const SocketOptions& socket) {
    Result<Fd> fd = listen_unix({socket.path, socket.mode, socket.owner, socket.group});
    if (!fd) {
        return fd.error();
    }
    return UnixListener{*std::move(fd), socket.path};
}

UnixListener::~UnixListener() {
    if (fd_.is_open()) {
        (void)::unlink(path_.c_str());
    }
}

}  // namespace sluice
