#include "control/daemon/acceptor.hpp"

#include "control/daemon/http.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr int kTickMs = 250;

void say(int fd, const HttpResponse& response) {
    const std::string answer = fmt::format(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\n"
        "Retry-After: {}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
        response.retry_after, response.body.size(), response.body);
    (void)::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// A connection that is closed with bytes unread may lose the answer on its way.
void take_request(int fd) {
    std::array<char, kMostPeeked> bytes;
    (void)::recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
}

}  // namespace

Acceptor::Acceptor(Fd listener, Bounds bounds, ApiCounters& counters, Admit admit,
                   AdmissionPolicy admission_policy)
    : listener_{std::move(listener)},
      ready_{::epoll_create1(EPOLL_CLOEXEC)},
      waker_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)},
      bounds_{bounds},
      counters_{counters},
      admit_{std::move(admit)},
      admission_{std::move(admission_policy)} {}

Result<std::unique_ptr<Acceptor>> Acceptor::make(Fd listener, Bounds bounds, ApiCounters& counters,
                                                 Admit admit, AdmissionPolicy admission_policy) {
    std::unique_ptr<Acceptor> acceptor{new Acceptor{std::move(listener), bounds, counters,
                                                    std::move(admit), std::move(admission_policy)}};
    if (!acceptor->watch(acceptor->listener_.get(), EPOLLIN, kListener) ||
        !acceptor->watch(acceptor->waker_.get(), EPOLLIN, kWaker)) {
        return Error{Errc::Unreachable, "the API cannot wait for its clients"};
    }
    return acceptor;
}

bool Acceptor::watch(int fd, std::uint32_t events, std::uint64_t number) noexcept {
    epoll_event event{};
    event.events = events;
    event.data.u64 = number;
    return ::epoll_ctl(ready_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void Acceptor::run(const std::stop_token& stop) {
    std::array<epoll_event, 64> events{};
    while (!stop.stop_requested()) {
        const int count = ::epoll_wait(ready_.get(), events.data(), events.size(), kTickMs);
        for (int i = 0; i < count; ++i) {
            const epoll_event& event = events[static_cast<std::size_t>(i)];
            if (event.data.u64 == kListener) {
                accept_pending();
            } else if (event.data.u64 == kWaker) {
                std::uint64_t times = 0;
                (void)::read(waker_.get(), &times, sizeof(times));
            } else {
                on_event(event.data.u64, event.events);
            }
        }
        admit_waiting();
        end_patience();
        pending_.remove_if([](const PendingConnection& pending) { return pending.gone; });
    }
}

// By the connection's number: its descriptor may be another one's by now.
void Acceptor::on_event(std::uint64_t number, std::uint32_t events) {
    const auto pending =
        std::find_if(pending_.begin(), pending_.end(),
                     [&](const PendingConnection& one) { return one.number == number; });
    if (pending != pending_.end()) {
        look_at(*pending);
        const bool ended = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
        pending->gone = pending->gone || (ended && !pending->kind);
    }
}

void Acceptor::wake() noexcept {
    const std::uint64_t once = 1;
    (void)::write(waker_.get(), &once, sizeof(once));
}

void Acceptor::accept_pending() {
    for (;;) {
        Fd fd{::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
        if (!fd.is_open()) {
            if (errno == EMFILE || errno == ENFILE) {
                std::this_thread::sleep_for(std::chrono::milliseconds{kTickMs});
            }
            return;
        }
        const Result<Peer> peer = admission_.identify(fd.get());
        if (!peer) {
            continue;
        }
        make_room_for(peer->uid);
        const std::uint64_t number = next_number_++;
        if (watch(fd.get(), EPOLLIN | EPOLLRDHUP | EPOLLET, number)) {
            pending_.push_back({std::move(fd), number, *peer, Clock::now(), std::nullopt});
            look_at(pending_.back());
        }
    }
}

// The user's own oldest goes first; the newest is the likeliest to be served by itself.
void Acceptor::make_room_for(uid_t user) {
    const auto waits = [](const PendingConnection& one) { return !one.gone; };
    const auto theirs = [&](const PendingConnection& one) {
        return waits(one) && one.peer.uid == user;
    };
    const auto of_user = std::count_if(pending_.begin(), pending_.end(), theirs);
    const auto all = std::count_if(pending_.begin(), pending_.end(), waits);
    auto oldest = pending_.end();
    if (static_cast<std::size_t>(of_user) >= bounds_.of_user) {
        oldest = std::find_if(pending_.begin(), pending_.end(), theirs);
    } else if (static_cast<std::size_t>(all) >= bounds_.all) {
        oldest = std::find_if(pending_.begin(), pending_.end(), waits);
    }
    if (oldest != pending_.end()) {
        reject(*oldest, TurnedAway::Crowd);
    }
}

void Acceptor::look_at(PendingConnection& pending) {
    if (pending.gone || pending.kind) {
        return;
    }
    std::array<char, kMostPeeked> bytes;
    const ssize_t got = ::recv(pending.fd.get(), bytes.data(), bytes.size(), MSG_PEEK);
    if (got < 0) {
        pending.gone = errno != EAGAIN && errno != EINTR;
    } else if (got == 0) {
        pending.gone = true;
    } else {
        pending.kind =
            admission_.classify({bytes.data(), static_cast<std::size_t>(got)}, pending.peer);
    }
}

void Acceptor::admit_waiting() {
    for (PendingConnection& pending : pending_) {
        if (!pending.gone && pending.kind) {
            const int fd = pending.fd.get();
            (void)::epoll_ctl(ready_.get(), EPOLL_CTL_DEL, fd, nullptr);
            if (admit_(fd, pending.peer, *pending.kind)) {
                (void)pending.fd.release();
                pending.gone = true;
            } else if (pending.kind && is_live(*pending.kind) &&
                       Clock::now() - pending.since >= bounds_.live_patience) {
                take_request(fd);
                say(fd, no_live_place());
                reject(pending, TurnedAway::LivePlace);
            }
        }
    }
}

void Acceptor::end_patience() {
    const Clock::time_point now = Clock::now();
    for (PendingConnection& pending : pending_) {
        if (pending.gone || now - pending.since < bounds_.patience) {
            continue;
        }
        if (pending.kind) {
            say(pending.fd.get(), busy_response(503, "busy", kNoPlace));
        }
        reject(pending, pending.kind ? TurnedAway::NoPlace : TurnedAway::NoRequest);
    }
}

void Acceptor::reject(PendingConnection& pending, TurnedAway why) {
    if (counters_.count(why)) {
        const TurnedAwayRow& row = kTurnedAway[static_cast<std::size_t>(why)];
        const std::string whose =
            pending.peer.pid == 0
                ? "by TCP"
                : fmt::format("of uid {} pid {}", pending.peer.uid, pending.peer.pid);
        spdlog::warn("closed a connection {}: {}; further ones are only counted", whose, row.help);
    }
    pending.gone = true;
    pending.fd = Fd{};
}

}  // namespace sluice
