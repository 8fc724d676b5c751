#pragma once
#include "lib/base/result.hpp"
#include "lib/wire/codec.hpp"

#include <sys/types.h>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace sluice {

// A file descriptor with one owner.
class Fd {
public:
    Fd() noexcept = default;
    explicit Fd(int fd) noexcept : fd_{fd} {}
    Fd(Fd&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
    Fd& operator=(Fd&& other) noexcept;
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd();

    [[nodiscard]] int get() const noexcept { return fd_; }
    [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
    [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

private:
    int fd_ = -1;
};

struct SocketOptions {
    std::string path;
    mode_t mode = 0660;
    std::string owner;  // user name; empty: as the process
    std::string group;  // group name; empty: as the process
};

// A listening, non-blocking Unix stream socket. A socket file that nobody listens on any more is
// replaced; one that somebody listens on is an Error.
[[nodiscard]] Result<Fd> listen_unix(const SocketOptions& options);

[[nodiscard]] Result<Fd> connect_unix(const std::string& path);

struct Peer {
    uid_t uid = 0;
    gid_t gid = 0;
    pid_t pid = 0;
};
[[nodiscard]] Result<Peer> peer_of(int fd);
// Whether the peer may speak here: root, the user we run as, or a member of the socket's group.
[[nodiscard]] bool may_speak(const Peer& peer, int listening_fd, const std::string& path);

// The client's end of dataplane.sock: blocking, with a timeout for each call.
class DataplaneClient {
public:
    // Connects and exchanges Hello and Welcome.
    [[nodiscard]] static Result<DataplaneClient> connect(const std::string& path,
                                                         const std::string& program,
                                                         std::chrono::milliseconds timeout);
    // One request, its reply. A Failure comes back as an Error with Errc::Refused; a broken
    // connection as Errc::Unreachable, after which the client is of no more use.
    [[nodiscard]] Result<Reply> call(const Request& request);
    [[nodiscard]] const Welcome& welcome() const noexcept { return welcome_; }

private:
    DataplaneClient(Fd fd, std::chrono::milliseconds timeout) noexcept;
    Fd fd_;
    std::chrono::milliseconds timeout_;
    Welcome welcome_;
};

}  // namespace sluice
