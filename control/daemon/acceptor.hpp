#pragma once
#include "control/daemon/api_counters.hpp"
#include "control/daemon/request_class.hpp"
#include "lib/base/result.hpp"
#include "lib/wire/fd.hpp"
#include "lib/wire/socket.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>

namespace sluice {

// Admission: who comes in, and for what.
struct AdmissionPolicy {
    // Names a connection's user: bounds are for each.
    using Identify = Result<Peer> (*)(int fd);
    // The class of a request, by what has come of it; nullopt: more has to come. Who is known by
    // it gets another number as `peer.uid`: bounds are for each person then.
    using Classify = std::function<std::optional<RequestClass>(std::string_view bytes, Peer& peer)>;

    Identify identify = peer_of;
    Classify classify = [](std::string_view bytes, Peer&) { return class_of(bytes); };
};

// Connections that wait until their request has come, and a place for it is free: a descriptor
// each, no thread. One thread looks after all of them; who is slow or many delays nobody but
// themselves, since the number of those who wait is bounded for each user.
class Acceptor {
public:
    struct Bounds {
        std::size_t all = 256;
        std::size_t of_user = 96;
        std::chrono::milliseconds patience{10'000};  // for the head of a request, and for a place
        // For a place to wait for the next second of the box: as long as a connection that its
        // client has just closed still holds one.
        std::chrono::milliseconds live_patience{200};
    };
    // Takes the connection over. False: there is no place for it now, and it stays.
    using Admit = std::function<bool(int fd, const Peer& peer, RequestClass kind)>;

    [[nodiscard]] static Result<std::unique_ptr<Acceptor>> make(
        Fd listener, Bounds bounds, ApiCounters& counters, Admit admit,
        AdmissionPolicy admission_policy = {});
    Acceptor(const Acceptor&) = delete;
    Acceptor& operator=(const Acceptor&) = delete;

    // Until it is asked to stop.
    void run(const std::stop_token& stop);
    // Wakes run() from any thread: a place may be free, or it is to stop.
    void wake() noexcept;

private:
    using Clock = std::chrono::steady_clock;
    // The subject of an event; from kFirstPending on, a pending connection.
    static constexpr std::uint64_t kListener = 0;
    static constexpr std::uint64_t kWaker = 1;
    static constexpr std::uint64_t kFirstPending = 2;
    struct PendingConnection {
        Fd fd;
        std::uint64_t number = 0;  // no other one ever has it
        Peer peer;
        Clock::time_point since;
        std::optional<RequestClass> kind;  // its request has come, and waits for a place
        bool gone = false;
    };

    Acceptor(Fd listener, Bounds bounds, ApiCounters& counters, Admit admit,
             AdmissionPolicy admission_policy);
    [[nodiscard]] bool watch(int fd, std::uint32_t events, std::uint64_t number) noexcept;
    void on_event(std::uint64_t number, std::uint32_t events);
    void accept_pending();
    void make_room_for(uid_t user);
    void look_at(PendingConnection& pending);
    void admit_waiting();
    void end_patience();
    void reject(PendingConnection& pending, TurnedAway why);

    Fd listener_;
    Fd ready_;  // epoll; edges, so that a half request is looked at only when more of it comes
    Fd waker_;
    Bounds bounds_;
    ApiCounters& counters_;
    Admit admit_;
    AdmissionPolicy admission_;
    std::list<PendingConnection> pending_;  // in the order they came
    std::uint64_t next_number_ = kFirstPending;
};

}  // namespace sluice
