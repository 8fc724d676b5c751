#include "lib/base/read_file.hpp"

#include "lib/base/memory_room.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::size_t kLeastRead = 4096;  // files of the kernel say that they have no bytes

Error unreadable(const std::string& path) {
    return {Errc::Unreachable,
            "cannot read " + path + ": " + std::generic_category().message(errno)};
}

// A smaller file is always read: how much memory there is, is written in files too.
constexpr std::size_t kAlwaysRead = std::size_t{1} << 20;

bool has_room_for(std::size_t size) {
    return size <= kAlwaysRead || size <= available_memory();
}

Error too_little_memory(const std::string& path) {
    return {Errc::Unreachable, "cannot read " + path + ": there is too little memory for it"};
}

Error no_file(const std::string& path) {
    return {Errc::BadSyntax, "cannot read " + path + ": it is no regular file"};
}

Result<std::string> read_to_end(int fd, const std::string& path, std::size_t most) {
    struct stat info{};
    if (::fstat(fd, &info) != 0) {
        return unreadable(path);
    }
    if (!S_ISREG(info.st_mode)) {
        return no_file(path);
    }
    const auto expected = std::min(static_cast<std::size_t>(info.st_size), most);
    if (!has_room_for(expected)) {
        return too_little_memory(path);
    }
    std::string text(std::max(expected + 1, kLeastRead), '\0');  // one more, to see the end at once
    for (std::size_t size = 0;;) {
        const ssize_t got = ::read(fd, text.data() + size, text.size() - size);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return unreadable(path);
        }
        size += static_cast<std::size_t>(got);
        if (size > most) {
            return Error{Errc::TooMany,
                         path + " is larger than " + std::to_string(most >> 20) + " MiB"};
        }
        if (got == 0) {
            text.resize(size);
            return text;
        }
        if (size == text.size()) {
            // The file grew meanwhile; both texts are there for a while.
            if (!has_room_for(3 * size)) {
                return too_little_memory(path);
            }
            text.resize(2 * size);
        }
    }
}

}  // namespace

Result<std::optional<std::string>> read_whole_file(const std::string& path, std::size_t most) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) {
        return std::optional<std::string>{};
    }
    if (fd < 0) {
        return errno == ENXIO || errno == ELOOP ? no_file(path) : unreadable(path);
    }
    Result<std::string> text = read_to_end(fd, path, most);
    ::close(fd);
    if (!text) {
        return text.error();
    }
    return std::optional{*std::move(text)};
}

namespace {

// The names that could be read, and why not all of them.
std::pair<std::vector<std::string>, std::error_code> read_names(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator at{folder, error}, end; !error && at != end;
         at.increment(error)) {
        names.push_back(at->path().filename().string());
    }
    return {std::move(names), error};
}

}  // namespace

Result<std::vector<std::string>> list_folder(const std::string& folder) {
    auto [names, error] = read_names(folder);
    if (error && error != std::errc::no_such_file_or_directory) {
        return Error{Errc::Unreachable, "cannot list " + folder + ": " + error.message()};
    }
    return std::move(names);
}

std::vector<std::string> names_in(const std::string& folder) {
    return read_names(folder).first;
}

}  // namespace sluice
