#include "control/daemon/deadlines.hpp"

#include <sys/socket.h>

namespace sluice {

void Deadlines::start(int fd, Clock::time_point now, std::chrono::milliseconds patience) {
    const std::lock_guard lock{mutex_};
    ends_[fd] = now + patience;
}

void Deadlines::stop(int fd) {
    const std::lock_guard lock{mutex_};
    ends_.erase(fd);
}

// Under the lock, so that no descriptor is closed and given to another meanwhile.
void Deadlines::sweep(Clock::time_point now) {
    const std::lock_guard lock{mutex_};
    for (const auto& [fd, end] : ends_) {
        if (end <= now) {
            (void)::shutdown(fd, SHUT_RDWR);
        }
    }
}

}  // namespace sluice
