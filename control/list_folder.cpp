#include "control/list_folder.hpp"

#include "lib/policy/lists/list_text.hpp"
#include "lib/wire/fd.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

Error unreadable(const std::string& path, const std::string& why) {
    return {Errc::Unreachable, "cannot read " + path + ": " + why};
}

Error unreadable(const std::string& path) {
    return unreadable(path, std::generic_category().message(errno));
}

Result<std::string> read_all(int fd, const std::string& path, std::size_t expected) {
    std::string text(expected + 1, '\0');  // one more, to see the end at once
    std::size_t size = 0;
    for (;;) {
        const ssize_t got = ::read(fd, text.data() + size, text.size() - size);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return unreadable(path);
        }
        if (got == 0) {
            text.resize(size);
            return text;
        }
        size += static_cast<std::size_t>(got);
        if (size > kMaxListSize) {
            return Error{Errc::TooMany,
                         path + " is larger than " + std::to_string(kMaxListSize >> 20) + " MiB"};
        }
        if (size == text.size()) {
            text.resize(2 * size);  // it grew meanwhile
        }
    }
}

}  // namespace

std::string absolute_folder_of(const std::string& rule_file) {
    std::error_code error;
    const fs::path whole = fs::absolute(rule_file, error);
    return error ? std::string{} : whole.lexically_normal().parent_path().string();
}

std::string list_path(const std::string& folder, const std::string& path) {
    return (fs::path{folder} / path).lexically_normal().string();
}

Result<ListFile> read_list_file(const std::string& folder, const std::string& path) {
    const std::string whole = list_path(folder, path);
    const Fd file{::open(whole.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat info{};
    if (!file.is_open() || ::fstat(file.get(), &info) != 0) {
        return unreadable(whole);
    }
    if (!S_ISREG(info.st_mode)) {
        return unreadable(whole, "it is no regular file");
    }
    const auto expected = std::min(static_cast<std::size_t>(info.st_size), kMaxListSize);
    Result<std::string> text = read_all(file.get(), whole, expected);
    if (!text) {
        return text.error();
    }
    return ListFile{whole, std::make_shared<const std::string>(*std::move(text))};
}

ListReader lists_beside(const std::string& rule_file) {
    const std::string folder = fs::path{rule_file}.parent_path().string();
    return [folder](const std::string& path) { return read_list_file(folder, path); };
}

}  // namespace sluice
