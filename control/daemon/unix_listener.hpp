#pragma once
#include "lib/base/result.hpp"
#include "lib/rules/box_config.hpp"
#include "lib/wire/socket.hpp"

#include <string>
#include <utility>

namespace sluice {

// A Unix socket that clients may connect to already; they are answered once it is served. Its path
// is removed at its end unless a server has taken it over.
class UnixListener {
public:
    // An error says why nobody can connect: somebody listens there already, or the path.
    [[nodiscard]] static Result<UnixListener> open(const SocketOptions& socket);
    UnixListener(UnixListener&&) noexcept = default;
    UnixListener& operator=(UnixListener&&) = delete;
    ~UnixListener();

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    // For the server, which removes the path from now on.
    [[nodiscard]] Fd take() noexcept { return std::move(fd_); }

private:
    UnixListener(Fd fd, std::string path) : fd_{std::move(fd)}, path_{std::move(path)} {}

    Fd fd_;
    std::string path_;
};

}  // namespace sluice
