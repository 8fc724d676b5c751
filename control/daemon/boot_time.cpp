#include "control/daemon/boot_time.hpp"

#include <algorithm>
#include <ctime>
#include <fstream>

namespace sluice {

BootTime boot_time() {
    BootTime now;
    std::ifstream{"/proc/sys/kernel/random/boot_id"} >> now.boot;
    timespec time{};
    (void)::clock_gettime(CLOCK_BOOTTIME, &time);
    now.since = std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
    return now;
}

std::chrono::nanoseconds left_until(const BootTime& end, const BootTime& now) {
    // Without a boot id no instant outlives its process.
    if (end.boot.empty() || end.boot != now.boot) {
        return std::chrono::nanoseconds{0};
    }
    return std::max(end.since - now.since, std::chrono::nanoseconds{0});
}

}  // namespace sluice
