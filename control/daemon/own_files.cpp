#include "control/daemon/own_files.hpp"

#include "lib/base/read_file.hpp"
#include "lib/wire/fd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>

namespace sluice {
namespace {

constexpr auto kOwnFiles = std::to_array<std::string_view>(
    {"audit.log", "audit.log.1", "cluster.json", "cluster.json.new", "rules.json", "rules.json.new",
     "rules.journal", "rules.unconfirmed.json", "rules.unconfirmed.json.new", "sluiced.lock"});
constexpr auto kAside = std::to_array<std::string_view>(
    {"cluster.json.bad-", "rules.json.bad-", "rules.journal.bad-", "rules.unconfirmed.json.bad-"});
constexpr auto kFolders = std::to_array<std::string_view>({"history", "lists"});

bool is_one_of(std::string_view name, const auto& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

struct OwnFile {
    Fd file;  // O_PATH: what it is stays what it is, whatever gets its name
    std::string path;
    struct stat info{};
};

// Nothing where there is no file or folder of that name, such as a link.
void find_in(int folder, const std::string& folder_name, const std::string& name,
             std::vector<OwnFile>& found) {
    OwnFile one{Fd{::openat(folder, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)},
                folder_name + "/" + name,
                {}};
    if (one.file.is_open() && ::fstat(one.file.get(), &one.info) == 0 &&
        (S_ISREG(one.info.st_mode) || S_ISDIR(one.info.st_mode))) {
        found.push_back(std::move(one));
    }
}

std::vector<OwnFile> find_own(const std::string& state_dir) {
    std::vector<OwnFile> found;
    const Fd folder{::open(state_dir.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    for (const std::string& name : names_in(state_dir)) {
        if (!is_sluiceds_own(name)) {
            continue;
        }
        find_in(folder.get(), state_dir, name, found);
        const Fd inner{
            ::openat(folder.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
        if (!inner.is_open()) {
            continue;
        }
        const std::string path = state_dir + "/" + name;
        for (const std::string& file : names_in(path)) {
            find_in(inner.get(), path, file, found);
        }
    }
    return found;
}

Error cannot(const std::string& path, std::string_view why) {
    return {Errc::Refused, fmt::format("cannot make {} the user's: {}", path, why)};
}

}  // namespace

bool is_sluiceds_own(std::string_view name) {
    return is_one_of(name, kOwnFiles) || is_one_of(name, kFolders) ||
           std::any_of(kAside.begin(), kAside.end(),
                       [&](std::string_view start) { return name.starts_with(start); });
}

Result<Done> hand_over_own_files(const std::string& state_dir, uid_t user, gid_t group) {
    const std::vector<OwnFile> found = find_own(state_dir);
    // The history's files are those that were in force: some have two names here.
    std::map<std::pair<dev_t, ino_t>, nlink_t> names;
    for (const OwnFile& one : found) {
        ++names[{one.info.st_dev, one.info.st_ino}];
    }
    for (const OwnFile& one : found) {
        if (one.info.st_uid == user && one.info.st_gid == group) {
            continue;
        }
        if (S_ISREG(one.info.st_mode) &&
            one.info.st_nlink != names[{one.info.st_dev, one.info.st_ino}]) {
            return cannot(one.path, "it has a name elsewhere too");
        }
        if (::fchownat(one.file.get(), "", user, group, AT_EMPTY_PATH) != 0) {
            return cannot(one.path, std::strerror(errno));
        }
    }
    return Done{};
}

}  // namespace sluice
