#include "control/daemon/confinement.hpp"

#include "lib/confine/confine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <linux/capability.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr auto kOfRoot = std::to_array<unsigned>(
    {CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_SETGID, CAP_SETUID});
// Sticky: sluiced cannot remove the files of root's dataplane in a directory that both use.
constexpr mode_t kShared = 01775;
// What the dataplane keeps in a state directory that both share.
constexpr auto kOfDataplane = std::to_array<std::string_view>(
    {"ruleset.bin", "slots.bin", "rss-key", "tables", "lock", "database-key"});

Error cannot_share(const std::string& path) {
    return {Errc::Refused,
            fmt::format("cannot make {} the user's: {}", path, std::strerror(errno))};
}

bool is_the_dataplanes(const fs::path& path) {
    const std::string name = path.filename().string();
    return std::any_of(kOfDataplane.begin(), kOfDataplane.end(),
                       [&](std::string_view start) { return name.starts_with(start); });
}

// The folder stays root's, and the user's group writes in it.
Result<Done> share_folder(const std::string& folder, const passwd& user) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (::chown(folder.c_str(), 0, user.pw_gid) != 0 || ::chmod(folder.c_str(), kShared) != 0) {
        return cannot_share(folder);
    }
    return Done{};
}

// What a sluiced that ran as root has left there.
Result<Done> hand_over_kept(const std::string& folder, const passwd& user) {
    std::error_code error;
    for (fs::recursive_directory_iterator at{folder, error}, end; at != end; at.increment(error)) {
        if (at.depth() == 0 && is_the_dataplanes(at->path())) {
            at.disable_recursion_pending();
        } else if (::lchown(at->path().c_str(), user.pw_uid, user.pw_gid) != 0) {
            return cannot_share(at->path().string());
        }
    }
    return Done{};
}

Result<Done> hand_over_sockets(const Settings& settings, const passwd& user) {
    for (const SocketOptions& socket : {settings.control, read_socket_of(settings)}) {
        const std::string folder = fs::path{socket.path}.parent_path().string();
        if (const Result<Done> done = share_folder(folder.empty() ? "." : folder, user); !done) {
            return done.error();
        }
        struct stat left{};
        if (::lstat(socket.path.c_str(), &left) == 0 && S_ISSOCK(left.st_mode)) {
            (void)::lchown(socket.path.c_str(), user.pw_uid, user.pw_gid);
        }
    }
    return Done{};
}

Result<Done> run_as_user(const Settings& settings) {
    const passwd* user = ::getpwnam(settings.user.c_str());
    if (user == nullptr) {
        return Error{Errc::OutOfRange, "there is no user " + settings.user};
    }
    if (::geteuid() == 0 && user->pw_uid != 0) {
        for (const Result<Done>& done :
             {share_folder(settings.state_dir, *user), hand_over_kept(settings.state_dir, *user),
              hand_over_sockets(settings, *user)}) {
            if (!done) {
                return done.error();
            }
        }
    }
    return become_user(settings.user);
}

}  // namespace

Result<Done> confine(const Settings& settings) {
    if (!settings.user.empty()) {
        if (const Result<Done> done = run_as_user(settings); !done) {
            return done.error();
        }
    }
    if (::geteuid() == 0) {
        if (const Result<Done> done = keep_capabilities(kOfRoot); !done) {
            return done.error();
        }
    }
    return refuse_system_calls(Programs::No);
}

}  // namespace sluice
