#include "dataplane/store/store_socket.hpp"

#include "lib/base/log.hpp"
#include "lib/wire/socket.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice {

Result<StoreSocket> StoreSocket::listen(const SocketOptions& options, const StoreHello& hello) {
    Result<Fd> listener = listen_unix(options);
    if (!listener) {
        return listener.error();
    }
    return StoreSocket{*std::move(listener), options, hello};
}

StoreSocket::~StoreSocket() {
    if (listener_.is_open()) {
        (void)::unlink(options_.path.c_str());
    }
}

void StoreSocket::serve(std::chrono::milliseconds timeout, const Events& events) {
    std::array<pollfd, 2> ready{{{.fd = listener_.get(), .events = POLLIN, .revents = 0},
                                 {.fd = peer_.get(), .events = POLLIN, .revents = 0}}};
    if (!out_.empty()) {
        ready[1].events |= POLLOUT;
    }
    if (::poll(ready.data(), ready.size(), static_cast<int>(timeout.count())) > 0) {
        if ((ready[1].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
            receive(events);
        }
        if (ready[0].revents != 0) {
            accept_peer(events);
        }
    }
    if (lost_) {
        disconnect(events, "it has gone");
    }
}

void StoreSocket::accept_peer(const Events& events) {
    Fd fd{::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
    if (!fd.is_open()) {
        return;
    }
    const Result<Peer> peer = peer_of(fd.get());
    if (!peer || !owns(*peer, options_.path)) {
        log_warn("refused a client on " + options_.path + ": " +
                 (peer ? "uid " + std::to_string(peer->uid) : std::string{"unknown"}));
        return;
    }
    if (peer_.is_open()) {
        disconnect(events, "another one has come");
    }
    peer_ = std::move(fd);
    in_ = FrameBuffer{kMostStoreMessage};
    out_.clear();
    lost_ = false;
    log_info("sluice-store is here, pid " + std::to_string(peer->pid));
    say(hello_);
    events.connected();
}

void StoreSocket::disconnect(const Events& events, const char* why) {
    log_warn("sluice-store is let go of: " + std::string{why});
    peer_ = Fd{};
    out_.clear();
    lost_ = false;
    events.disconnected();
}

void StoreSocket::receive(const Events& events) {
    constexpr std::size_t kReadSize = 65'536;
    constexpr int kReadsAtOnce = 16;
    std::array<std::byte, kReadSize> bytes{};
    for (int i = 0; i < kReadsAtOnce; ++i) {
        const ssize_t got = ::recv(peer_.get(), bytes.data(), bytes.size(), 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            break;
        }
        if (got <= 0) {
            lost_ = true;
            return;
        }
        in_.feed(ByteView{bytes}.first(static_cast<std::size_t>(got)));
        if (in_.broken()) {
            disconnect(events, "a message of it is too long");
            return;
        }
        while (const std::optional<std::vector<std::byte>> payload = in_.next()) {
            const Result<StoreAnswer> answer = decode_store_answer(*payload);
            if (!answer) {
                disconnect(events, "a message of it is none");
                return;
            }
            events.heard(*answer);
        }
    }
}

void StoreSocket::say(const StoreRequest& request) {
    const std::vector<std::byte> payload = encode(request);
    const auto size = static_cast<std::uint32_t>(payload.size());
    const std::size_t at = out_.size();
    out_.resize(at + sizeof(size) + payload.size());
    std::memcpy(out_.data() + at, &size, sizeof(size));
    std::memcpy(out_.data() + at + sizeof(size), payload.data(), payload.size());
}

void StoreSocket::flush() {
    while (!out_.empty() && peer_.is_open()) {
        const ssize_t sent = ::send(peer_.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (sent <= 0) {
            lost_ = true;
            return;
        }
        out_.erase(out_.begin(), out_.begin() + sent);
    }
}

}  // namespace sluice
