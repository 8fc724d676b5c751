#include "control/daemon/confinement.hpp"

#include "control/daemon/own_files.hpp"
#include "control/daemon/web/opened_web.hpp"
#include "lib/base/system_user.hpp"
#include "lib/confine/confine.hpp"
#include "lib/wire/fd.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr auto kOfRoot = std::to_array<unsigned>(
    {CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_SETGID, CAP_SETUID});
// Sticky: sluiced cannot remove the files of root's dataplane in a directory that both use.
constexpr mode_t kShared = 01775;

Error cannot_share(const std::string& path) {
    return {Errc::Refused,
            fmt::format("cannot make {} the user's: {}", path, std::strerror(errno))};
}

// The folder stays root's, and the user's group writes in it.
Result<Done> share_folder(const std::string& folder, const SystemUser& user) {
    std::error_code error;
    fs::create_directories(folder, error);
    const Fd opened{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!opened.is_open() || ::fchown(opened.get(), 0, user.gid) != 0 ||
        ::fchmod(opened.get(), kShared) != 0) {
        return cannot_share(folder);
    }
    return Done{};
}

Result<Done> hand_over_sockets(const Settings& settings, const SystemUser& user) {
    std::vector<SocketOptions> sockets{settings.control, read_socket_of(settings)};
    if (settings.web && !settings.web->path.empty()) {
        sockets.push_back(web_socket_of(*settings.web));
    }
    for (const SocketOptions& socket : sockets) {
        const std::string folder = fs::path{socket.path}.parent_path().string();
        if (const Result<Done> done = share_folder(folder.empty() ? "." : folder, user); !done) {
            return done.error();
        }
        struct stat left{};
        if (::lstat(socket.path.c_str(), &left) == 0 && S_ISSOCK(left.st_mode)) {
            (void)::lchown(socket.path.c_str(), user.uid, user.gid);
        }
    }
    return Done{};
}

Result<Done> run_as_user(const Settings& settings) {
    const Result<SystemUser> user = user_named(settings.user);
    if (!user) {
        return user.error();
    }
    if (::geteuid() == 0 && user->uid != 0) {
        for (const Result<Done>& done :
             {share_folder(settings.state_dir, *user),
              hand_over_own_files(settings.state_dir, user->uid, user->gid),
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
    const bool has_etcd = settings.cluster && settings.cluster->etcd;
    if (settings.notify.empty() && !has_etcd) {
        if (const Result<Done> done = refuse_networks(); !done) {
            return done.error();
        }
    }
    return refuse_system_calls(Programs::No);
}

}  // namespace sluice
