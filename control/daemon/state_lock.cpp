#include "control/daemon/state_lock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace sluice {
namespace {

// O_CREAT only where nothing has that name: in a sticky folder that a group may write to, the
// kernel refuses it for a file of somebody else (fs.protected_regular), to root too.
Fd open_or_make(const std::string& path) {
    constexpr int kOpen = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    Fd file{::open(path.c_str(), kOpen)};
    if (!file.is_open() && errno == ENOENT) {
        file = Fd{::open(path.c_str(), kOpen | O_CREAT | O_EXCL, 0600)};
        if (!file.is_open() && errno == EEXIST) {
            file = Fd{::open(path.c_str(), kOpen)};  // another process has just made it
        }
    }
    return file;
}

// " (pid 17)"; empty: it has not said so yet.
std::string holder_of(const Fd& file) {
    std::array<char, 16> text{};
    const ssize_t size = ::pread(file.get(), text.data(), text.size(), 0);
    const std::string_view pid{text.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
    const std::size_t digits = std::min(pid.find_first_not_of("0123456789"), pid.size());
    return digits == 0 ? "" : fmt::format(" (pid {})", pid.substr(0, digits));
}

void note_holder(const Fd& file) {
    const std::string text = fmt::format("{}\n", ::getpid());
    if (::ftruncate(file.get(), 0) == 0) {
        (void)!::pwrite(file.get(), text.data(), text.size(), 0);
    }
}

}  // namespace

Result<StateLock> StateLock::take(const std::string& state_dir) {
    std::error_code error;
    std::filesystem::create_directories(state_dir, error);
    Fd file = open_or_make(state_dir + "/" + kFile);
    if (!file.is_open()) {
        return StateLock{std::move(file)};
    }
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        return errno != EWOULDBLOCK
                   ? Result<StateLock>{StateLock{Fd{}}}  // the file system has no locks
                   : Error{Errc::Refused,
                           fmt::format("another sluiced{} has the state directory {}; give each a "
                                       "--state-dir of its own",
                                       holder_of(file), state_dir)};
    }
    note_holder(file);
    return StateLock{std::move(file)};
}

}  // namespace sluice
