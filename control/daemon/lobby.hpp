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

// Who comes in, and for what.
struct Doorman {
    // Whose connection it is: bounds are for each user.
    using Identify = Result<Peer> (*)(int fd);
    // What a request is, by what has come of it; nullopt: more has to come.
    using Classify = std::function<std::optional<RequestClass>(std::string_view bytes)>;

    Identify identify = peer_of;
    Classify classify = [](std::string_view bytes) { return class_of(bytes); };
};

// Where connections wait until their request has come, and a place for it is free: a descriptor
// each, no thread. One thread looks after all of them; who is slow or many delays nobody but
// themselves, since the number of those who wait is bounded for each user.
class Lobby {
public:
    struct Bounds {
        std::size_t all = 256;
        std::size_t of_user = 96;
        std::chrono::milliseconds patience{10'000};  // for the head of a request, and for a place
    };
    // Takes the connection over. False: there is no place for it now, and it stays.
    using Admit = std::function<bool(int fd, const Peer& peer, RequestClass kind)>;

    [[nodiscard]] static Result<std::unique_ptr<Lobby>> make(Fd listener, Bounds bounds,
                                                             ApiCounters& counters, Admit admit,
                                                             Doorman doorman = {});
    Lobby(const Lobby&) = delete;
    Lobby& operator=(const Lobby&) = delete;

    // Until it is asked to stop.
    void run(const std::stop_token& stop);
    // From any thread: a place may be free, or it is to stop.
    void wake() noexcept;

private:
    using Clock = std::chrono::steady_clock;
    // What an event is about; from kFirstGuest on, a guest.
    static constexpr std::uint64_t kListener = 0;
    static constexpr std::uint64_t kWaker = 1;
    static constexpr std::uint64_t kFirstGuest = 2;
    struct Guest {
        Fd fd;
        std::uint64_t number = 0;  // no other one ever has it
        Peer peer;
        Clock::time_point since;
        std::optional<RequestClass> kind;  // its request has come, and waits for a place
        bool gone = false;
    };

    Lobby(Fd listener, Bounds bounds, ApiCounters& counters, Admit admit, Doorman doorman);
    [[nodiscard]] bool watch(int fd, std::uint32_t events, std::uint64_t number) noexcept;
    void hear(std::uint64_t number, std::uint32_t events);
    void accept_guests();
    void make_room_for(uid_t user);
    void look_at(Guest& guest);
    void admit_waiting();
    void end_patience();
    void turn_away(Guest& guest, TurnedAway why);

    Fd listener_;
    Fd ready_;  // epoll; edges, so that a half request is looked at only when more of it comes
    Fd waker_;
    Bounds bounds_;
    ApiCounters& counters_;
    Admit admit_;
    Doorman doorman_;
    std::list<Guest> guests_;  // in the order they came
    std::uint64_t next_number_ = kFirstGuest;
};

}  // namespace sluice
