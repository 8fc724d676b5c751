#pragma once
#include "lib/base/result.hpp"
#include "lib/rules/box_config.hpp"
#include "lib/wire/fd.hpp"

#include <sys/types.h>
#include <string>

namespace sluice {

// A listening, non-blocking Unix stream socket. A socket file without a listener is
// replaced; one with a listener is an Error.
[[nodiscard]] Result<Fd> listen_unix(const SocketOptions& options);

// Gives the socket that lies at that path its mode, owner and group. What is no socket, such as a
// link that somebody has put there, is an Error, and nothing behind it changes.
[[nodiscard]] Result<Done> hand_over_socket(const SocketOptions& options);

// An Error for lack of a right names the folder or socket, who may, and who this process is.
[[nodiscard]] Result<Fd> connect_unix(const std::string& path);

struct Peer {
    uid_t uid = 0;
    gid_t gid = 0;
    pid_t pid = 0;
};
[[nodiscard]] Result<Peer> peer_of(int fd);
// True if the peer may speak here: root, the user we run as, or a member of the socket's group.
[[nodiscard]] bool may_speak(const Peer& peer, const std::string& path);

// Stricter: root, the user we run as, or the socket's owner. Groups give no right.
[[nodiscard]] bool owns(const Peer& peer, const std::string& path);

}  // namespace sluice
