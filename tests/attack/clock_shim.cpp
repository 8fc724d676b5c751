// Loaded before libc (LD_PRELOAD): adds to UTC what the file named by CLOCK_SHIM holds, a signed
// number of ns that its writer may change at any time. Every other clock is the kernel's.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

using ReadClock = int (*)(clockid_t, timespec*);
constexpr std::int64_t kSecond = 1'000'000'000;

const std::atomic<std::int64_t>* open_offset() {
    const char* const path = std::getenv("CLOCK_SHIM");
    const int file = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return nullptr;
    }
    void* const page = ::mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, file, 0);
    ::close(file);
    return page == MAP_FAILED ? nullptr : static_cast<const std::atomic<std::int64_t>*>(page);
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
    static const auto kernels = reinterpret_cast<ReadClock>(::dlsym(RTLD_NEXT, "clock_gettime"));
    static const std::atomic<std::int64_t>* const offset = open_offset();
    const int result = kernels(clock, time);
    if (result == 0 && clock == CLOCK_REALTIME && offset != nullptr) {
        const std::int64_t now = time->tv_sec * kSecond + time->tv_nsec + offset->load();
        *time = {now / kSecond, now % kSecond};
    }
    return result;
}
