#include "dataplane/state/kept_panic.hpp"

#include "dataplane/state/state_files.hpp"
#include "lib/wire/fd.hpp"

#include <cerrno>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::string_view kText =
    "sluicectl panic pass: all traffic is forwarded unjudged; sluicectl panic resume ends it\n";

Error not_done(const std::string& what, const std::string& path) {
    return {Errc::Unreachable, "cannot " + what + " " + path + ": " + std::strerror(errno)};
}

}  // namespace

KeptPanic::KeptPanic(const std::string& directory)
    : directory_{directory}, path_{directory + "/" + kPanicFile} {}

bool KeptPanic::is_set() const {
    struct stat info{};
    return ::lstat(path_.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

Result<Done> KeptPanic::keep(bool pass) const {
    if (pass) {
        const Fd file{::open(path_.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)};
        if (!file.is_open()) {
            return not_done("write", path_);
        }
        (void)!::write(file.get(), kText.data(), kText.size());
        (void)::fsync(file.get());
    } else if (::unlink(path_.c_str()) != 0 && errno != ENOENT) {
        return not_done("remove", path_);
    }
    const Fd folder{::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (folder.is_open() && ::fsync(folder.get()) != 0) {
        return not_done("make durable", directory_);
    }
    return Done{};
}

}  // namespace sluice
