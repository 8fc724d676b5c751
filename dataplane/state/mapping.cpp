#include "dataplane/state/mapping.hpp"

#include "lib/wire/fd.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {

Error mapping_failed(const std::string& what, const std::string& path) {
    return {Errc::Unreachable, "cannot " + what + " " + path + ": " + std::strerror(errno)};
}

namespace {

// A file that is gone, or a name that leads to none, is damage; all else may pass.
Error opening_failed(const std::string& path) {
    const bool damaged = errno == ENOENT || errno == ELOOP || errno == EISDIR || errno == ENXIO;
    Error error = mapping_failed("open", path);
    error.code = damaged ? Errc::BadSyntax : Errc::Unreachable;
    return error;
}

}  // namespace

Result<Mapping> Mapping::map(const std::string& path, int fd, std::size_t bytes, Stores stores) {
    struct stat status{};
    if (::fstat(fd, &status) != 0) {
        return mapping_failed("open", path);
    }
    if (static_cast<std::size_t>(status.st_size) < bytes) {
        return Error{Errc::BadSyntax, path + " is shorter than it should be"};
    }
    const auto page = static_cast<std::size_t>(status.st_blksize);
    const std::size_t whole = (bytes + page - 1) / page * page;
    const int sharing = stores == Stores::Kept ? MAP_SHARED : MAP_PRIVATE;
    void* data = ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, sharing, fd, 0);
    if (data == MAP_FAILED) {
        return mapping_failed("map", path);
    }
    // A hint, and then all of it at once: not under the first packets.
    (void)::madvise(data, whole, MADV_HUGEPAGE);
    (void)::madvise(data, whole, MADV_POPULATE_WRITE);
    return Mapping{data, whole, page, stores};
}

Result<Mapping> Mapping::make(const std::string& path, std::size_t bytes) {
    const Fd file{::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
    struct stat status{};
    if (!file.is_open() || ::fstat(file.get(), &status) != 0) {
        return mapping_failed("make", path);
    }
    const auto page = static_cast<std::size_t>(status.st_blksize);
    const std::size_t whole = (bytes + page - 1) / page * page;
    // Reserved now: memory that is missing later would end the process in the middle of a packet.
    const int failed = ::posix_fallocate(file.get(), 0, static_cast<off_t>(whole));
    if (failed != 0) {
        (void)::unlink(path.c_str());
        errno = failed;
        return mapping_failed("find " + std::to_string(whole >> 10) + " kB for", path);
    }
    return map(path, file.get(), bytes, Stores::Kept);
}

Result<Mapping> Mapping::open(const std::string& path, std::size_t bytes, Stores stores) {
    constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW;
    if (stores == Stores::Kept) {
        const Fd file{::open(path.c_str(), O_RDWR | kFlags)};
        if (file.is_open() || (errno != EROFS && errno != EACCES && errno != EPERM)) {
            return file.is_open() ? map(path, file.get(), bytes, stores) : opening_failed(path);
        }
    }
    const Fd file{::open(path.c_str(), O_RDONLY | kFlags)};
    return file.is_open() ? map(path, file.get(), bytes, Stores::Private) : opening_failed(path);
}

Mapping::~Mapping() {
    if (data_ != nullptr) {
        (void)::munmap(data_, bytes_);
    }
}

}  // namespace sluice
