#include "control/daemon/tcp_listener.hpp"

#include "control/daemon/nobody.hpp"
#include "lib/packet/ip_address.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include <netinet/in.h>
#include <sys/socket.h>

namespace sluice {
namespace {

constexpr int kTcpBacklog = 128;
constexpr std::size_t kNetworkBytes = 8;  // of IPv6: a /64 is one end's

struct TcpAddress {
    sockaddr_storage storage{};
    socklen_t size = 0;
};

TcpAddress tcp_address_of(const ApiOptions& api) {
    TcpAddress address;
    if (api.address.version == IpVersion::V4) {
        sockaddr_in v4{};
        v4.sin_family = AF_INET;
        v4.sin_port = htons(api.port);
        std::memcpy(&v4.sin_addr, api.address.address.bytes.data(), sizeof(v4.sin_addr));
        std::memcpy(&address.storage, &v4, sizeof(v4));
        address.size = sizeof(v4);
    } else {
        sockaddr_in6 v6{};
        v6.sin6_family = AF_INET6;
        v6.sin6_port = htons(api.port);
        std::memcpy(&v6.sin6_addr, api.address.address.bytes.data(), sizeof(v6.sin6_addr));
        std::memcpy(&address.storage, &v6, sizeof(v6));
        address.size = sizeof(v6);
    }
    return address;
}

}  // namespace

std::string endpoint_text(const ApiOptions& api) {
    const std::string host = to_text(api.address.version, api.address.address);
    return api.address.version == IpVersion::V6 ? fmt::format("[{}]:{}", host, api.port)
                                                : fmt::format("{}:{}", host, api.port);
}

std::optional<VersionedAddress> address_of_peer(int fd) {
    sockaddr_storage storage{};
    socklen_t size = sizeof(storage);
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) {
        return std::nullopt;
    }
    VersionedAddress found{};
    if (storage.ss_family == AF_INET) {
        sockaddr_in v4{};
        std::memcpy(&v4, &storage, sizeof(v4));
        found.version = IpVersion::V4;
        std::memcpy(found.address.bytes.data(), &v4.sin_addr, sizeof(v4.sin_addr));
        return found;
    }
    if (storage.ss_family != AF_INET6) {
        return std::nullopt;
    }
    sockaddr_in6 v6{};
    std::memcpy(&v6, &storage, sizeof(v6));
    const bool mapped = IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr);
    found.version = mapped ? IpVersion::V4 : IpVersion::V6;
    std::memcpy(found.address.bytes.data(), &v6.sin6_addr.s6_addr[mapped ? 12 : 0],
                mapped ? sizeof(in_addr) : sizeof(in6_addr));
    return found;
}

Result<Fd> listen_tcp(const ApiOptions& api, std::string_view what) {
    const TcpAddress address = tcp_address_of(api);
    Fd socket{::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    const int yes = 1;
    if (!socket.is_open() ||
        ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
        ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.size) !=
            0 ||
        ::listen(socket.get(), kTcpBacklog) != 0) {
        return Error{Errc::Unreachable, fmt::format("{} cannot listen on {}: {}", what,
                                                    endpoint_text(api), std::strerror(errno))};
    }
    return socket;
}

Result<Peer> source_of(int fd) {
    const std::optional<VersionedAddress> address = address_of_peer(fd);
    if (!address) {
        return Error{Errc::Unreachable, "a client has gone"};
    }
    const std::size_t bytes = address->version == IpVersion::V4 ? sizeof(in_addr) : kNetworkBytes;
    auto number = static_cast<uid_t>(address->version);
    for (std::size_t i = 0; i < bytes; ++i) {
        number = (number ^ std::to_integer<uid_t>(address->address.bytes[i])) * 0x0100'0193U;
    }
    return Peer{.uid = number, .gid = kNobody, .pid = 0};
}

std::string source_text(int fd) {
    const std::optional<VersionedAddress> address = address_of_peer(fd);
    return address ? to_text(address->version, address->address) : "an unknown address";
}

Peer tcp_user() noexcept {
    return {.uid = kNobody, .gid = kNobody, .pid = 0};
}

}  // namespace sluice
