#include "lib/wire/socket.hpp"

#include "lib/base/missing_right.hpp"
#include "lib/base/system_user.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr int kBacklog = 128;

Error failed(const std::string& what, const std::string& path) {
    return {Errc::Unreachable, what + " " + path + ": " + std::strerror(errno)};
}

// An error as of failed(), of what the user of this process may not do.
Error not_allowed(const std::string& what, const std::string& path) {
    const bool is_right = errno == EACCES || errno == EPERM;
    Error error = failed(what, path);
    if (is_right) {
        const std::optional<SystemUser> user = user_of(::geteuid());
        error.what += "; this process runs as " +
                      (user ? user->name : "uid " + std::to_string(::geteuid())) +
                      ": run it as root, or name a socket in a folder where that user may write";
    }
    return error;
}

Result<sockaddr_un> address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof(address.sun_path)) {
        return Error{Errc::OutOfRange, "a socket's path has 1 to " +
                                           std::to_string(sizeof(address.sun_path) - 1) +
                                           " bytes: " + path};
    }
    std::memcpy(address.sun_path, path.data(), path.size());
    return address;
}

const sockaddr* generic(const sockaddr_un& address) {
    return reinterpret_cast<const sockaddr*>(&address);
}

// A socket file that a process left behind when it was killed is in the way of the next.
Result<Done> remove_stale(const std::string& path, const sockaddr_un& address) {
    struct stat info{};
    if (::lstat(path.c_str(), &info) != 0) {
        return Done{};
    }
    if (!S_ISSOCK(info.st_mode)) {
        return Error{Errc::Refused, path + " exists and is no socket"};
    }
    // Only a refused connection shows a dead socket: a full backlog has a listener.
    const Fd probe{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    const bool is_open =
        probe.is_open() && ::connect(probe.get(), generic(address), sizeof(address)) == 0;
    if (!is_open && errno == EACCES) {
        return not_allowed("another user's socket is in the way of", path);
    }
    if (is_open || !probe.is_open() || errno != ECONNREFUSED) {
        return Error{Errc::Refused, "somebody listens on " + path + " already"};
    }
    if (::unlink(path.c_str()) != 0) {
        return not_allowed("cannot remove", path);
    }
    return Done{};
}

}  // namespace

Result<Done> hand_over_socket(const SocketOptions& options) {
    uid_t owner = static_cast<uid_t>(-1);
    gid_t group = static_cast<gid_t>(-1);
    if (!options.owner.empty()) {
        const Result<SystemUser> found = user_named(options.owner);
        if (!found) {
            return found.error();
        }
        owner = found->uid;
    }
    if (!options.group.empty()) {
        const Result<gid_t> found = group_named(options.group);
        if (!found) {
            return found.error();
        }
        group = *found;
    }
    // By a descriptor: from chown() on the owner may put something else under that name. The mode
    // goes by /proc, since fchmod() takes no descriptor of this kind.
    const Fd socket{::open(options.path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)};
    struct stat info{};
    if (!socket.is_open() || ::fstat(socket.get(), &info) != 0) {
        return failed("cannot hand over", options.path);
    }
    if (!S_ISSOCK(info.st_mode)) {
        return Error{Errc::Refused, options.path + " is no socket any more"};
    }
    const std::string itself = "/proc/self/fd/" + std::to_string(socket.get());
    if (::chmod(itself.c_str(), options.mode) != 0 ||
        ::fchownat(socket.get(), "", owner, group, AT_EMPTY_PATH) != 0) {
        return failed("cannot hand over", options.path);
    }
    return Done{};
}

namespace {

// Supplementary groups count too.
bool is_member(uid_t uid, gid_t primary, gid_t group) {
    const std::optional<SystemUser> user = user_of(uid);
    const std::vector<gid_t> groups = user ? groups_of(*user, primary) : std::vector<gid_t>{};
    return std::find(groups.begin(), groups.end(), group) != groups.end();
}

}  // namespace

Result<Fd> listen_unix(const SocketOptions& options) {
    const Result<sockaddr_un> address = address_of(options.path);
    if (!address) {
        return address.error();
    }
    if (const Result<Done> stale = remove_stale(options.path, *address); !stale) {
        return stale.error();
    }
    Fd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!fd.is_open()) {
        return failed("cannot make the socket", options.path);
    }
    // /run is empty after a boot.
    const std::string folder = options.path.substr(0, options.path.rfind('/') + 1);
    if (!folder.empty() && ::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
        return not_allowed("cannot make the folder of", options.path);
    }
    // Nobody can connect before listen(), and by then mode and owner are set.
    const mode_t before = ::umask(0177);
    const int bound = ::bind(fd.get(), generic(*address), sizeof(*address));
    ::umask(before);
    if (bound != 0) {
        return not_allowed("cannot make the socket", options.path);
    }
    Result<Done> done = hand_over_socket(options);
    if (done && ::listen(fd.get(), kBacklog) != 0) {
        done = failed("cannot listen on", options.path);
    }
    if (!done) {
        (void)::unlink(options.path.c_str());
        return done.error();
    }
    return fd;
}

Result<Fd> connect_unix(const std::string& path) {
    const Result<sockaddr_un> address = address_of(path);
    if (!address) {
        return address.error();
    }
    Fd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (!fd.is_open() || ::connect(fd.get(), generic(*address), sizeof(*address)) != 0) {
        const bool is_right = errno == EACCES;
        Error error = failed("cannot reach", path);
        const std::string missing = is_right ? missing_right(path) : std::string{};
        error.what += missing.empty() ? "" : "; " + missing;
        return error;
    }
    return fd;
}

Result<Peer> peer_of(int fd) {
    ucred credentials{};
    socklen_t size = sizeof(credentials);
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
        return Error{Errc::Unreachable, "the peer does not say who it is"};
    }
    return Peer{credentials.uid, credentials.gid, credentials.pid};
}

bool may_speak(const Peer& peer, const std::string& path) {
    if (peer.uid == 0 || peer.uid == ::geteuid()) {
        return true;
    }
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0) {
        return false;
    }
    return peer.uid == info.st_uid || peer.gid == info.st_gid ||
           is_member(peer.uid, peer.gid, info.st_gid);
}

bool owns(const Peer& peer, const std::string& path) {
    struct stat info{};
    return peer.uid == 0 || peer.uid == ::geteuid() ||
           (::stat(path.c_str(), &info) == 0 && peer.uid == info.st_uid);
}

}  // namespace sluice
