#include "dataplane/state/state_folder.hpp"

#include "dataplane/state/state_files.hpp"
#include "lib/base/log.hpp"
#include "lib/base/read_file.hpp"
#include "lib/wire/database_key.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kUsualHugePage = std::size_t{2} << 20;
constexpr const char* kSharedMemory = "/dev/shm";

Error cannot(const std::string& what, const std::string& path) {
    return {Errc::Unreachable, "cannot " + what + " " + path + ": " + std::strerror(errno)};
}

std::optional<struct statfs> file_system_of(const std::string& path) {
    struct statfs system{};
    return ::statfs(path.c_str(), &system) == 0 ? std::optional{system} : std::nullopt;
}

bool is_memory(const std::string& path) {
    const auto system = file_system_of(path);
    return system && (system->f_type == TMPFS_MAGIC || system->f_type == HUGETLBFS_MAGIC);
}

bool has_room(const struct statfs& system, std::size_t bytes) {
    return static_cast<std::size_t>(system.f_bavail) * static_cast<std::size_t>(system.f_bsize) >=
           bytes;
}

// Mounts of hugetlbfs with pages of the usual size.
std::vector<std::string> huge_mounts() {
    std::vector<std::string> found;
    std::ifstream mounts{"/proc/mounts"};
    for (std::string line; std::getline(mounts, line);) {
        std::istringstream words{line};
        std::string device;
        std::string path;
        std::string type;
        words >> device >> path >> type;
        const auto system = type == "hugetlbfs" ? file_system_of(path) : std::nullopt;
        if (system && static_cast<std::size_t>(system->f_bsize) == kUsualHugePage) {
            found.push_back(path);
        }
    }
    return found;
}

// Files of it cannot be written, only mapped; and names in /dev/shm are everybody's.
Result<std::string> make_folder_in(const std::string& parent) {
    std::string path = parent + "/sluice-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) {
        return cannot("make", path);
    }
    return path;
}

Result<std::string> make_elsewhere(std::size_t bytes, bool huge_pages) {
    if (huge_pages) {
        for (const std::string& mount : huge_mounts()) {
            const auto system = file_system_of(mount);
            const std::size_t needed = bytes + bytes / 8;  // each file ends in a part of a page
            if (system && has_room(*system, needed) && ::access(mount.c_str(), W_OK) == 0) {
                return make_folder_in(mount);
            }
        }
    }
    const auto system = file_system_of(kSharedMemory);
    if (!system || system->f_type != TMPFS_MAGIC || !has_room(*system, bytes)) {
        return Error{Errc::OutOfRange,
                     "there is no room for tables of " + std::to_string((bytes >> 20) + 1) +
                         " MB in " + kSharedMemory + "; make it larger, or mount a hugetlbfs"};
    }
    return make_folder_in(kSharedMemory);
}

// A folder that nobody else can have made.
bool is_ours(const std::string& path) {
    struct stat status{};
    return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
           status.st_uid == ::geteuid() && (status.st_mode & 0022) == 0;
}

// The place of tables of that name; empty: none.
std::string place_of(const std::string& name) {
    std::error_code error;
    if (!fs::is_symlink(name, error)) {
        return is_ours(name) ? name : "";
    }
    // A link that somebody else has put here leads nowhere, whatever it names.
    struct stat link{};
    if (::lstat(name.c_str(), &link) != 0 || link.st_uid != ::geteuid()) {
        return "";
    }
    const std::string target = fs::read_symlink(name, error).string();
    return !error && is_ours(target) ? target : "";
}

bool remove_tables(const std::string& name) {
    std::error_code error;
    const std::string place = place_of(name);
    if (!place.empty()) {
        fs::remove_all(place, error);
    }
    if (!error) {
        fs::remove(name, error);
    }
    return !error;
}

// The sign to others that the directory is held: a file; where none can be made, since the
// directory is full or may only be read, the directory itself.
Fd open_lock(const std::string& directory, const std::string& path) {
    Fd file{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)};
    if (file.is_open()) {
        return file;
    }
    const int why = errno;
    Fd there{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
    if (!there.is_open()) {
        there = Fd{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    }
    errno = why;
    return there;
}

// All tables that were ever put aside here.
std::vector<std::string> put_aside_in(const std::string& directory) {
    std::vector<std::string> found;
    for (const std::string& name : names_in(directory)) {
        if (name.starts_with("tables.bad-")) {
            found.push_back(directory + "/" + name);
        }
    }
    return found;
}

}  // namespace

Result<StateFolder> StateFolder::open(const std::string& directory) {
    std::error_code error;
    fs::create_directories(directory, error);
    const std::string path = directory + "/lock";
    Fd lock = open_lock(directory, path);
    const std::string problem = cannot("write", path).what;
    if (!lock.is_open()) {
        StateFolder unheld{fs::absolute(directory, error).string(), std::move(lock)};
        unheld.note_not_kept();
        log_error(problem + "; nothing of this process will be found by the next one");
        return unheld;
    }
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        return Error{Errc::Refused, "another sluice-dataplane has the state directory " +
                                        directory + "; give each a --state-dir of its own"};
    }
    return StateFolder{fs::absolute(directory, error).string(), std::move(lock)};
}

Result<StateFolder> StateFolder::open_to_forget(const std::string& directory) {
    std::error_code error;
    if (!fs::is_directory(directory, error)) {
        return Error{Errc::Unreachable, "there is no state directory " + directory +
                                            ", so there is nothing in it to forget"};
    }
    Result<StateFolder> folder = open(directory);
    if (!folder) {
        return Error{Errc::Refused, "a sluice-dataplane runs with the state directory " +
                                        directory + ": stop it first"};
    }
    return folder;
}

Result<std::string> StateFolder::tables(std::size_t bytes, bool huge_pages) const {
    const std::string name = directory_ + "/tables";
    if (const std::string place = place_of(name); !place.empty()) {
        return place;
    }
    std::error_code error;
    fs::remove(name, error);  // a link to what a reboot has taken away
    if (is_memory(directory_)) {
        return ::mkdir(name.c_str(), 0700) == 0 ? Result<std::string>{name} : cannot("make", name);
    }
    Result<std::string> place = make_elsewhere(bytes, huge_pages);
    if (place && ::symlink(place->c_str(), name.c_str()) != 0) {
        const Error failed = cannot("make", name);
        (void)::rmdir(place->c_str());
        return failed;
    }
    return place;
}

Result<std::string> StateFolder::put_aside() const {
    for (const std::string& earlier : put_aside_in(directory_)) {
        log_warn("removing the tables that were kept aside before, " + earlier);
        (void)remove_tables(earlier);
    }
    const std::string name = directory_ + "/tables";
    const std::string aside = name + ".bad-" + std::to_string(::time(nullptr));
    if (::rename(name.c_str(), aside.c_str()) != 0) {
        return cannot("put aside", name);
    }
    put_aside_->add(1);
    return aside;
}

Result<Done> StateFolder::forget() const {
    bool all = remove_tables(directory_ + "/tables");
    for (const std::string& aside : put_aside_in(directory_)) {
        all = remove_tables(aside) && all;
    }
    for (const std::string& file : names_in(directory_)) {
        if (file.starts_with("ruleset.bin") || file.starts_with("slots.bin") ||
            file.starts_with(kRssKeyFile) || file.starts_with(kDatabaseKeyFile) ||
            file == kPanicFile) {
            std::error_code failed;
            fs::remove(directory_ + "/" + file, failed);
            all = all && !failed;
        }
    }
    if (!all) {
        return Error{Errc::Unreachable, "not all of the state in " + directory_ +
                                            " could be removed; look at its owner and mode"};
    }
    // The lock stays to the end: whoever waits for it must find nothing half removed.
    (void)::unlink((directory_ + "/lock").c_str());
    return Done{};
}

}  // namespace sluice
