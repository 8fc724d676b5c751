#include "control/daemon/lobby.hpp"

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

void say_busy(int fd) {
    const std::string body = problem_response(503, "too many requests at once",
                                              "as many as may be are under way already; try again")
                                 .body;
    const std::string answer = fmt::format(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\n"
        "Retry-After: 1\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
        body.size(), body);
    (void)::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

Lobby::Lobby(Fd listener, Bounds bounds, ApiCounters& counters, Admit admit, Doorman doorman)
    : listener_{std::move(listener)},
      ready_{::epoll_create1(EPOLL_CLOEXEC)},
      waker_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)},
      bounds_{bounds},
      counters_{counters},
      admit_{std::move(admit)},
      doorman_{std::move(doorman)} {}

Result<std::unique_ptr<Lobby>> Lobby::make(Fd listener, Bounds bounds, ApiCounters& counters,
                                           Admit admit, Doorman doorman) {
    std::unique_ptr<Lobby> lobby{
        new Lobby{std::move(listener), bounds, counters, std::move(admit), std::move(doorman)}};
    if (!lobby->watch(lobby->listener_.get(), EPOLLIN, kListener) ||
        !lobby->watch(lobby->waker_.get(), EPOLLIN, kWaker)) {
        return Error{Errc::Unreachable, "the API cannot wait for its clients"};
    }
    return lobby;
}

bool Lobby::watch(int fd, std::uint32_t events, std::uint64_t number) noexcept {
    epoll_event event{};
    event.events = events;
    event.data.u64 = number;
    return ::epoll_ctl(ready_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void Lobby::run(const std::stop_token& stop) {
    std::array<epoll_event, 64> events{};
    while (!stop.stop_requested()) {
        const int count = ::epoll_wait(ready_.get(), events.data(), events.size(), kTickMs);
        for (int i = 0; i < count; ++i) {
            const epoll_event& event = events[static_cast<std::size_t>(i)];
            if (event.data.u64 == kListener) {
                accept_guests();
            } else if (event.data.u64 == kWaker) {
                std::uint64_t times = 0;
                (void)::read(waker_.get(), &times, sizeof(times));
            } else {
                hear(event.data.u64, event.events);
            }
        }
        admit_waiting();
        end_patience();
        guests_.remove_if([](const Guest& guest) { return guest.gone; });
    }
}

// By the guest's number: its descriptor may be another guest's by now.
void Lobby::hear(std::uint64_t number, std::uint32_t events) {
    const auto guest = std::find_if(guests_.begin(), guests_.end(),
                                    [&](const Guest& one) { return one.number == number; });
    if (guest != guests_.end()) {
        look_at(*guest);
        const bool ended = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
        guest->gone = guest->gone || (ended && !guest->kind);
    }
}

void Lobby::wake() noexcept {
    const std::uint64_t once = 1;
    (void)::write(waker_.get(), &once, sizeof(once));
}

void Lobby::accept_guests() {
    for (;;) {
        Fd fd{::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
        if (!fd.is_open()) {
            if (errno == EMFILE || errno == ENFILE) {
                std::this_thread::sleep_for(std::chrono::milliseconds{kTickMs});
            }
            return;
        }
        const Result<Peer> peer = doorman_.identify(fd.get());
        if (!peer) {
            continue;
        }
        make_room_for(peer->uid);
        const std::uint64_t number = next_number_++;
        if (watch(fd.get(), EPOLLIN | EPOLLRDHUP | EPOLLET, number)) {
            guests_.push_back({std::move(fd), number, *peer, Clock::now(), std::nullopt});
            look_at(guests_.back());
        }
    }
}

// The user's own oldest goes first; the newest is the likeliest to be served by itself.
void Lobby::make_room_for(uid_t user) {
    const auto waits = [](const Guest& one) { return !one.gone; };
    const auto theirs = [&](const Guest& one) { return waits(one) && one.peer.uid == user; };
    const auto of_user = std::count_if(guests_.begin(), guests_.end(), theirs);
    const auto all = std::count_if(guests_.begin(), guests_.end(), waits);
    auto oldest = guests_.end();
    if (static_cast<std::size_t>(of_user) >= bounds_.of_user) {
        oldest = std::find_if(guests_.begin(), guests_.end(), theirs);
    } else if (static_cast<std::size_t>(all) >= bounds_.all) {
        oldest = std::find_if(guests_.begin(), guests_.end(), waits);
    }
    if (oldest != guests_.end()) {
        turn_away(*oldest, TurnedAway::Crowd);
    }
}

void Lobby::look_at(Guest& guest) {
    if (guest.gone || guest.kind) {
        return;
    }
    std::array<char, kMostPeeked> bytes;
    const ssize_t got = ::recv(guest.fd.get(), bytes.data(), bytes.size(), MSG_PEEK);
    if (got < 0) {
        guest.gone = errno != EAGAIN && errno != EINTR;
    } else if (got == 0) {
        guest.gone = true;
    } else {
        guest.kind = doorman_.classify({bytes.data(), static_cast<std::size_t>(got)});
    }
}

void Lobby::admit_waiting() {
    for (Guest& guest : guests_) {
        if (!guest.gone && guest.kind) {
            const int fd = guest.fd.get();
            (void)::epoll_ctl(ready_.get(), EPOLL_CTL_DEL, fd, nullptr);
            if (admit_(fd, guest.peer, *guest.kind)) {
                (void)guest.fd.release();
                guest.gone = true;
            }
        }
    }
}

void Lobby::end_patience() {
    const Clock::time_point now = Clock::now();
    for (Guest& guest : guests_) {
        if (guest.gone || now - guest.since < bounds_.patience) {
            continue;
        }
        if (guest.kind) {
            say_busy(guest.fd.get());
        }
        turn_away(guest, guest.kind ? TurnedAway::NoPlace : TurnedAway::NoRequest);
    }
}

void Lobby::turn_away(Guest& guest, TurnedAway why) {
    if (counters_.count(why)) {
        const TurnedAwayRow& row = kTurnedAway[static_cast<std::size_t>(why)];
        const std::string whose =
            guest.peer.pid == 0 ? "by TCP"
                                : fmt::format("of uid {} pid {}", guest.peer.uid, guest.peer.pid);
        spdlog::warn("closed a connection {}: {}; further ones are only counted", whose, row.help);
    }
    guest.gone = true;
    guest.fd = Fd{};
}

}  // namespace sluice
