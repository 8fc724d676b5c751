#include "control/daemon/notify/call_sockets.hpp"

#include <algorithm>
#include <optional>

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace sluice {
namespace {

// nullopt: it is no socket.
std::optional<std::uint64_t> cookie_of(int fd) {
    std::uint64_t cookie = 0;
    socklen_t size = sizeof(cookie);
    return ::getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? std::optional{cookie}
                                                                        : std::nullopt;
}

std::uint64_t received_over(int fd) {
    tcp_info info{};
    socklen_t size = sizeof(info);
    return ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_bytes_received
                                                                      : 0;
}

}  // namespace

void CallSockets::add(int fd) {
    if (const std::optional<std::uint64_t> cookie = cookie_of(fd)) {
        opened_.push_back({fd, *cookie});
    }
}

std::uint64_t CallSockets::most_received() const {
    std::uint64_t most = 0;
    for (const Opened& one : opened_) {
        if (cookie_of(one.fd) == one.cookie) {
            most = std::max<std::uint64_t>(most, received_over(one.fd));
        }
    }
    return most;
}

}  // namespace sluice
