#pragma once
#include <chrono>
#include <map>
#include <mutex>

namespace sluice {

// Connections that owe us something: a whole request, or to read the whole answer. A client that
// trickles a byte now and then is never idle, and still closed when its time is over.
class Deadlines {
public:
    using Clock = std::chrono::steady_clock;

    explicit Deadlines(std::chrono::milliseconds patience) : patience_{patience} {}

    // The connection owes something from `now` on.
    void start(int fd, Clock::time_point now) { start(fd, now, patience_); }
    void start(int fd, Clock::time_point now, std::chrono::milliseconds patience);
    // The connection owes nothing: we are busy with its request, or it is about to be closed.
    void stop(int fd);
    // Shuts down those whose time is over; the poll loop then closes them.
    void sweep(Clock::time_point now);

private:
    std::chrono::milliseconds patience_;
    std::mutex mutex_;
    std::map<int, Clock::time_point> ends_;
};

}  // namespace sluice
