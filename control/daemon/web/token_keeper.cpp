#include "control/daemon/web/token_keeper.hpp"

#include "control/daemon/secret_file.hpp"
#include "lib/wire/fd.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace sluice {
namespace {

bool is_unchanged(const struct stat& a, const struct stat& b) {
    return a.st_ino == b.st_ino && a.st_dev == b.st_dev && a.st_size == b.st_size &&
           a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec &&
           a.st_mode == b.st_mode && a.st_uid == b.st_uid && a.st_ctim.tv_sec == b.st_ctim.tv_sec &&
           a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

bool is_over(const NamedToken& token, std::int64_t utc) {
    return token.end != 0 && token.end <= utc;
}

// The whole of an open file, up to one byte more than is taken.
std::string bytes_in(int file) {
    std::string text(kLargestTokenFile + 1, '\0');
    std::size_t size = 0;
    while (size < text.size()) {
        const ssize_t got = ::read(file, text.data() + size, text.size() - size);
        if (got <= 0) {
            break;
        }
        size += static_cast<std::size_t>(got);
    }
    text.resize(size);
    return text;
}

}  // namespace

std::optional<NamedToken> TokenKeeper::find(const Sha256Digest& digest, std::int64_t utc) {
    const std::lock_guard lock{mutex_};
    look();
    const auto found = std::ranges::find(file_.tokens, digest, &NamedToken::digest);
    return found == file_.tokens.end() || is_over(*found, utc) ? std::nullopt
                                                               : std::optional{*found};
}

std::string TokenKeeper::problem() {
    const std::lock_guard lock{mutex_};
    look();
    return problem_;
}

std::size_t TokenKeeper::count(std::int64_t utc) {
    const std::lock_guard lock{mutex_};
    look();
    return static_cast<std::size_t>(std::ranges::count_if(
        file_.tokens, [&](const NamedToken& token) { return !is_over(token, utc); }));
}

void TokenKeeper::look() {
    struct stat info{};
    const bool is_there = !path_.empty() && ::stat(path_.c_str(), &info) == 0;
    if (is_read_ && is_unchanged(info, seen_)) {
        return;
    }
    is_read_ = true;
    seen_ = info;
    file_ = {};
    const std::string before = std::move(problem_);
    problem_.clear();
    if (is_there) {
        read();
    } else if (!path_.empty() && errno != ENOENT) {
        problem_ = "the tokens of the dashboard, " + path_ + ": " + std::strerror(errno);
    }
    if (!problem_.empty() && problem_ != before) {
        spdlog::error("{}", problem_);
    }
}

void TokenKeeper::read() {
    const std::string name = "the tokens of the dashboard, " + path_;
    const Fd file{::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat info{};
    if (!file.is_open() || ::fstat(file.get(), &info) != 0) {
        problem_ = name + ": " + std::strerror(errno);
        return;
    }
    if (const std::string exposed = exposure_of(info); !exposed.empty()) {
        problem_ = name + ": " + exposed;
        return;
    }
    const std::string text = bytes_in(file.get());
    if (text.size() > kLargestTokenFile) {
        problem_ = name + ": it is larger than 256 KiB";
        return;
    }
    file_ = read_token_lines(text);
    if (!file_.problems.empty()) {
        problem_ = problems_text(path_, file_);
    }
}

}  // namespace sluice
