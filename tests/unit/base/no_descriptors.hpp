#pragma once
#include <sys/resource.h>

namespace sluice::test {

// While this lives the process opens nothing: EMFILE, for root too.
class NoDescriptors {
public:
    NoDescriptors() {
        (void)::getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
        (void)::setrlimit(RLIMIT_NOFILE, &none);
    }
    ~NoDescriptors() { (void)::setrlimit(RLIMIT_NOFILE, &before_); }
    NoDescriptors(const NoDescriptors&) = delete;
    NoDescriptors& operator=(const NoDescriptors&) = delete;

private:
    rlimit before_{};
};

// A regular file that can be opened, and each read of which is EIO.
inline constexpr const char* kReadsFail = "/proc/self/mem";

}  // namespace sluice::test
