#include "control/cli/token_file.hpp"

#include "control/text_file.hpp"
#include "lib/base/system_user.hpp"
#include "lib/wire/fd.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

Error cannot_write(const std::string& path) {
    return {Errc::Refused, "cannot write " + path + ": " + std::strerror(errno)};
}

// The new file's owner is the user of sluice.yaml, else who has the file now.
Result<Done> give_tokens_to_owner(const Fd& file, const TokenPlace& place) {
    struct stat old{};
    if (!place.user.empty()) {
        const Result<SystemUser> user = user_named(place.user);
        if (!user) {
            return user.error();
        }
        old.st_uid = user->uid;
        old.st_gid = user->gid;
    } else if (::stat(place.path.c_str(), &old) != 0) {
        return Done{};
    }
    if (::geteuid() == 0 && ::fchown(file.get(), old.st_uid, old.st_gid) != 0) {
        return cannot_write(place.path);
    }
    // The group goes on reading what it could read.
    if (::fchmod(file.get(), S_IRUSR | S_IWUSR | (old.st_mode & S_IRGRP)) != 0) {
        return cannot_write(place.path);
    }
    return Done{};
}

Result<Done> write_tokens(const TokenPlace& place, const std::string& text) {
    const std::string beside = place.path + ".new";
    (void)::unlink(beside.c_str());
    const Fd file{
        ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
    if (!file.is_open()) {
        return cannot_write(beside);
    }
    if (const Result<Done> done = give_tokens_to_owner(file, place); !done) {
        (void)::unlink(beside.c_str());
        return done;
    }
    const bool is_whole =
        ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
        ::fsync(file.get()) == 0 && ::rename(beside.c_str(), place.path.c_str()) == 0;
    if (!is_whole) {
        const Error why = cannot_write(place.path);
        (void)::unlink(beside.c_str());
        return why;
    }
    return Done{};
}

// sluiced lets no line of such a file hold; written anew by its owner, all of them would.
std::string exposure_of_tokens(const struct stat& info, const TokenPlace& place) {
    constexpr mode_t kOfOthers = S_IWGRP | S_IRWXO;
    if (!S_ISREG(info.st_mode)) {
        return "it is no file";
    }
    if ((info.st_mode & kOfOthers) != 0) {
        return "others may read or write it, so that its lines may be anybody's";
    }
    const Result<SystemUser> user =
        place.user.empty() ? Result<SystemUser>{Error{}} : user_named(place.user);
    const bool is_of_user = user && user->uid == info.st_uid;
    return info.st_uid == 0 || info.st_uid == ::geteuid() || is_of_user
               ? std::string{}
               : "it belongs to somebody else";
}

}  // namespace

Result<std::string> token_text(const TokenPlace& place) {
    struct stat info{};
    if (::stat(place.path.c_str(), &info) != 0) {
        return errno == ENOENT ? Result<std::string>{std::string{}}
                               : Error{Errc::Refused,
                                       "cannot read " + place.path + ": " + std::strerror(errno)};
    }
    if (const std::string exposure = exposure_of_tokens(info, place); !exposure.empty()) {
        return Error{Errc::Refused, place.path + ": " + exposure +
                                        "; look at its lines, and let its owner alone write it "
                                        "(mode 0600 or 0640)"};
    }
    return read_text_file(place.path, kLargestTokenFile);
}

namespace {

// The file that a link leads to is the one to be written anew: the link stays, and leads to it.
TokenPlace behind_links(TokenPlace place) {
    std::error_code failed;
    const std::filesystem::path whole = std::filesystem::canonical(place.path, failed);
    place.path = failed ? place.path : whole.string();
    return place;
}

}  // namespace

Result<Done> change_tokens(const TokenPlace& named,
                           const std::function<Result<std::string>(const std::string&)>& change) {
    const TokenPlace place = behind_links(named);
    const std::filesystem::path parent = std::filesystem::path{place.path}.parent_path();
    const std::string folder_name = parent.empty() ? "." : parent.string();
    const Fd folder{::open(folder_name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!folder.is_open() || ::flock(folder.get(), LOCK_EX) != 0) {
        return cannot_write(place.path);
    }
    const Result<std::string> text = token_text(place);
    if (!text) {
        return text.error();
    }
    const Result<std::string> changed = change(*text);
    return changed ? write_tokens(place, *changed) : Result<Done>{changed.error()};
}

std::string beside_config(const std::string& config, const std::string& file) {
    return (std::filesystem::path{config}.parent_path() / file).string();
}

}  // namespace sluice
