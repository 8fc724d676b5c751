#include "dataplane/port/interface_hold.hpp"

#include "lib/base/device_text.hpp"
#include "lib/base/log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>

#include <net/if.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr int kTries = 3;  // of a holder that ends just now
constexpr int kBacklog = 64;

struct Address {
    sockaddr_un place{};
    socklen_t size = 0;

    [[nodiscard]] const sockaddr* get() const noexcept {
        return reinterpret_cast<const sockaddr*>(&place);
    }
};

// An abstract name: its first byte is zero, and no file has it.
Address address_of(unsigned index) {
    const std::string name = "sluice/port/" + std::to_string(index);
    Address address;
    address.place.sun_family = AF_UNIX;
    std::copy(name.begin(), name.end(), address.place.sun_path + 1);
    address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    return address;
}

Fd open_socket() {
    return Fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
}

// The process that has bound the address; none: too many have asked for anybody to say.
ucred holder_of(const Address& address) {
    ucred holder{};
    socklen_t size = sizeof(holder);
    const Fd probe = open_socket();
    if (::connect(probe.get(), address.get(), address.size) != 0) {
        return {.pid = 0, .uid = ::geteuid(), .gid = 0};
    }
    (void)::getsockopt(probe.get(), SOL_SOCKET, SO_PEERCRED, &holder, &size);
    return holder;
}

Error is_held(const std::string& interface, const ucred& holder) {
    if (holder.pid == ::getpid()) {
        return {Errc::Refused, "the interface " + interface +
                                   " is a port of this box already: " + kSharedInterface};
    }
    const std::string who = holder.pid == 0 ? "" : " (process " + std::to_string(holder.pid) + ")";
    return {Errc::Refused, "the interface " + interface + " is a port of another sluice-dataplane" +
                               who +
                               ": both would forward each of its frames; end that one, or take "
                               "another interface"};
}

}  // namespace

Result<InterfaceHold> InterfaceHold::take(const std::string& interface) {
    const unsigned index = ::if_nametoindex(interface.c_str());
    if (index == 0) {
        return InterfaceHold{Fd{}};
    }
    const Address address = address_of(index);
    Fd socket = open_socket();
    for (int attempt = 0; attempt < kTries; ++attempt) {
        if (::bind(socket.get(), address.get(), address.size) == 0 &&
            ::listen(socket.get(), kBacklog) == 0) {
            return InterfaceHold{std::move(socket)};
        }
        if (errno != EADDRINUSE) {
            return Error{Errc::Unreachable,
                         "cannot hold the interface " + interface + ": " + std::strerror(errno)};
        }
        const ucred holder = holder_of(address);
        if (holder.uid != 0 && holder.uid != ::geteuid()) {
            log_warn("uid " + std::to_string(holder.uid) +
                     ", which is no dataplane's, pretends to "
                     "hold the interface " +
                     interface + " (process " + std::to_string(holder.pid) +
                     "); nothing keeps another dataplane off it");
            return InterfaceHold{Fd{}};
        }
        if (holder.pid != 0) {
            return is_held(interface, holder);
        }
    }
    return is_held(interface, {});
}

Result<std::vector<InterfaceHold>> hold_interfaces(const std::string& device) {
    std::vector<InterfaceHold> holds;
    for (const std::string& interface : interfaces_of(device)) {
        Result<InterfaceHold> hold = InterfaceHold::take(interface);
        if (!hold) {
            return hold.error();
        }
        holds.push_back(*std::move(hold));
    }
    return holds;
}

}  // namespace sluice
