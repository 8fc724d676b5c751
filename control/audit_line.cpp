#include "control/audit_line.hpp"

#include "control/visible_text.hpp"
#include "lib/wire/fd.hpp"

#include <fmt/chrono.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <ctime>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

// Root alone can do so: others can give a file to nobody.
void give_to_owner_of(const std::string& directory, int file) {
    struct stat folder{};
    struct stat made{};
    if (::geteuid() == 0 && ::stat(directory.c_str(), &folder) == 0 && ::fstat(file, &made) == 0 &&
        made.st_size == 0) {
        (void)::fchown(file, folder.st_uid, folder.st_gid);
        // A folder that is shared with a group is sluiced's by that.
        if ((folder.st_mode & S_IWGRP) != 0) {
            (void)::fchmod(file, 0660);
        }
    }
}

// O_CREAT only where nothing has that name: in a sticky folder that a group may write to, the
// kernel refuses it for a file of somebody else (fs.protected_regular), to root too.
int open_to_append(const std::string& path) {
    constexpr int kAppend = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
    int file = ::open(path.c_str(), kAppend);
    if (file < 0 && errno == ENOENT) {
        file = ::open(path.c_str(), kAppend | O_CREAT | O_EXCL, 0600);
        if (file < 0 && errno == EEXIST) {
            file = ::open(path.c_str(), kAppend);  // another process has just made it
        }
    }
    return file;
}

std::string shortened(const std::string& text) {
    return text.size() <= kMostAuditText
               ? text
               : fmt::format("{}... ({} bytes)", text.substr(0, kMostAuditText), text.size());
}

}  // namespace

Peer this_process() {
    return {.uid = ::getuid(), .gid = ::getgid(), .pid = ::getpid()};
}

std::string audit_line(const AuditEntry& entry) {
    nlohmann::ordered_json line{
        {"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(::time(nullptr)))},
        {"uid", entry.who.uid},
        {"pid", entry.who.pid},
        {"call", shortened(entry.call)},
        {"before", shortened(entry.before)},
        {"after", shortened(entry.after)},
        {"outcome", shortened(entry.outcome)}};
    if (!entry.source.empty()) {
        line["source"] = entry.source;
    }
    if (!entry.name.empty()) {
        line["name"] = entry.name;
    }
    if (!entry.tenant.empty()) {
        line["tenant"] = entry.tenant;
    }
    if (!entry.via.empty()) {
        line["via"] = entry.via;
    }
    return visible_json(
               line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) +
           "\n";
}

std::string audit_file_in(const std::string& directory) {
    return directory + "/audit.log";
}

bool append_audit(const std::string& path, const std::string& line) {
    const std::string directory = std::filesystem::path{path}.parent_path().string();
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    const Fd file{open_to_append(path)};
    if (!file.is_open()) {
        return false;
    }
    give_to_owner_of(directory, file.get());
    return ::write(file.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

}  // namespace sluice
