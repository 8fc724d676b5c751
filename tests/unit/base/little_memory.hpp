#pragma once
#include "lib/base/memory_room.hpp"

#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

namespace sluice::test {

// While this lives the process may take so many bytes more, beside what available_memory() keeps
// back.
class LittleMemory {
public:
    explicit LittleMemory(std::uint64_t bytes) {
        (void)::getrlimit(RLIMIT_AS, &before_);
        std::uint64_t pages = 0;
        std::ifstream{"/proc/self/statm"} >> pages;
        const rlimit little{.rlim_cur = pages * static_cast<std::uint64_t>(::getpagesize()) +
                                        kMemoryKeptBack + bytes,
                            .rlim_max = before_.rlim_max};
        (void)::setrlimit(RLIMIT_AS, &little);
    }
    ~LittleMemory() { (void)::setrlimit(RLIMIT_AS, &before_); }
    LittleMemory(const LittleMemory&) = delete;
    LittleMemory& operator=(const LittleMemory&) = delete;

private:
    rlimit before_{};
};

}  // namespace sluice::test
