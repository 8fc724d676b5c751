#include "lib/policy/databases/mmdb_file.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

namespace sluice {
namespace {

// Memory that has a path; goes with its last mapping.
class PathedMemory {
public:
    PathedMemory() noexcept : fd_{::memfd_create("mmdb", MFD_CLOEXEC)} {}
    ~PathedMemory() {
        if (fd_ >= 0) {
            (void)::close(fd_);
        }
    }
    PathedMemory(const PathedMemory&) = delete;
    PathedMemory& operator=(const PathedMemory&) = delete;

    // False: errno says why.
    [[nodiscard]] bool take(std::string_view bytes) const { return fd_ >= 0 && write_all(bytes); }
    [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

private:
    [[nodiscard]] bool write_all(std::string_view bytes) const;

    int fd_;
};

bool PathedMemory::write_all(std::string_view bytes) const {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

}  // namespace

Error broken_mmdb(const std::string& why) {
    return {Errc::BadSyntax, "is no good MMDB file: " + why};
}

Result<MmdbFile> MmdbFile::open(std::string_view bytes) {
    const PathedMemory copy;
    if (!copy.take(bytes)) {
        return Error{Errc::Unreachable,
                     "cannot be held in memory: " + std::generic_category().message(errno)};
    }
    MMDB_s mmdb{};
    const int status = MMDB_open(copy.path().c_str(), MMDB_MODE_MMAP, &mmdb);
    if (status != MMDB_SUCCESS) {
        return broken_mmdb(MMDB_strerror(status));
    }
    return MmdbFile{mmdb};
}

MmdbFile::~MmdbFile() {
    if (open_) {
        MMDB_close(&mmdb_);
    }
}

MmdbFile::MmdbFile(MmdbFile&& other) noexcept
    : mmdb_{other.mmdb_}, open_{std::exchange(other.open_, false)} {}

}  // namespace sluice
