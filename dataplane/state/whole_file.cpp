#include "dataplane/state/whole_file.hpp"

#include "lib/base/log.hpp"
#include "lib/base/read_file.hpp"
#include "lib/wire/fd.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::string_view kAside = ".bad-";  // before the time, in seconds

Error replacing_failed(const std::string& what, const std::string& path) {
    return {Errc::Unreachable, what + " " + path + ": " + std::strerror(errno)};
}

bool write_all(int fd, ByteView bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written <= 0) {
            return false;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return true;
}

}  // namespace

Result<Done> replace_file(const std::string& path, ByteView bytes, Durable durable) {
    const std::string temporary = path + ".new";
    // A link that somebody else has put there may have that name.
    (void)::unlink(temporary.c_str());
    const Fd file{
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
    if (!file.is_open() || !write_all(file.get(), bytes) ||
        (durable == Durable::Yes && ::fsync(file.get()) != 0)) {
        const Error failed = replacing_failed("cannot write", temporary);
        (void)::unlink(temporary.c_str());  // half of it would take the room of the next try
        return failed;
    }
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
        const Error failed = replacing_failed("cannot replace", path);
        (void)::unlink(temporary.c_str());
        return failed;
    }
    if (durable == Durable::No) {
        return Done{};
    }
    const std::string folder = std::filesystem::path{path}.parent_path().string();
    const Fd directory{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!directory.is_open() || ::fsync(directory.get()) != 0) {
        return replacing_failed("cannot make durable", folder);
    }
    return Done{};
}

std::string put_file_aside(const std::string& path) {
    const std::string aside = path + kAside.data() + std::to_string(::time(nullptr));
    if (::rename(path.c_str(), aside.c_str()) != 0) {
        return "it stays where it is";
    }
    const std::vector<std::string> all = files_aside(path);
    for (std::size_t i = 0; i + kMostAside < all.size(); ++i) {
        log_warn("removing what was put aside before, " + all[i]);
        std::error_code error;
        std::filesystem::remove(all[i], error);
    }
    return "it is kept as " + aside;
}

std::vector<std::string> files_aside(const std::string& path) {
    const std::filesystem::path file{path};
    const std::string begin = file.filename().string() + kAside.data();
    std::vector<std::pair<std::uint64_t, std::string>> found;
    for (const std::string& name : names_in(file.parent_path().string())) {
        std::uint64_t time = 0;
        const char* const last = name.data() + name.size();
        if (name.starts_with(begin) &&
            std::from_chars(name.data() + begin.size(), last, time).ptr == last) {
            found.emplace_back(time, (file.parent_path() / name).string());
        }
    }
    std::sort(found.begin(), found.end());
    std::vector<std::string> paths;
    for (auto& [time, name] : found) {
        paths.push_back(std::move(name));
    }
    return paths;
}

}  // namespace sluice
