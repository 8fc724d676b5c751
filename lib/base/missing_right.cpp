#include "lib/base/missing_right.hpp"

#include "lib/base/system_user.hpp"

#include <array>
#include <cstdio>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

std::string name_of_user(uid_t uid) {
    const std::optional<SystemUser> user = user_of(uid);
    return user ? user->name : std::to_string(uid);
}

bool may(const std::string& path, int right) {
    return ::faccessat(AT_FDCWD, path.c_str(), right, AT_EACCESS) == 0;
}

std::string refused(const std::string& what, const std::string& path, unsigned group_right) {
    struct stat info{};
    const std::string who = name_of_user(::geteuid()) + " may not " + what + " " + path;
    if (::stat(path.c_str(), &info) != 0) {
        return who;
    }
    std::array<char, 8> mode{};
    (void)std::snprintf(mode.data(), mode.size(), "%04o",
                        static_cast<unsigned>(info.st_mode) & 07777U);
    const std::string owner = name_of_user(info.st_uid);
    const std::string group = group_name(info.st_gid);
    const bool group_may = (info.st_mode & group_right) == group_right;
    return who + " (mode " + mode.data() + ", of " + owner + ":" + group + "): run it as " + owner +
           (group_may ? ", or as a member of the group " + group : std::string{});
}

}  // namespace

std::string missing_right(const std::string& path) {
    for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
        const std::string folder = path.substr(0, at);
        if (!may(folder, X_OK)) {
            struct stat info{};
            return ::stat(folder.c_str(), &info) == 0 ? refused("enter the folder", folder, S_IXGRP)
                                                      : std::string{};
        }
    }
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0 || may(path, W_OK)) {
        return {};
    }
    return refused("write to the socket", path, S_IWGRP);
}

}  // namespace sluice
