#include "control/daemon/secret_file.hpp"

#include "lib/wire/fd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

bool is_secret_char(char c) {
    return c > ' ' && c < 0x7F;
}

}  // namespace

std::string exposure_of(const struct stat& info) {
    if (!S_ISREG(info.st_mode)) {
        return "is no file";
    }
    if (info.st_uid != 0 && info.st_uid != ::geteuid()) {
        return "belongs neither to root nor to the user that sluiced is started as";
    }
    if ((info.st_mode & (S_IRWXO | S_IWGRP)) != 0) {
        return fmt::format("its mode {:04o} lets others read or write it; make it 0600, or 0640",
                           info.st_mode & 07777U);
    }
    return "";
}

Result<std::string> read_secret_file(const std::string& path, const SecretName& name) {
    const auto bad = [&](const std::string& why) {
        return Error{Errc::Refused, fmt::format("{}, {}: {}", name.owner, path, why)};
    };
    const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat info{};
    if (!file.is_open() || ::fstat(file.get(), &info) != 0) {
        return bad(std::strerror(errno));
    }
    if (const std::string exposed = exposure_of(info); !exposed.empty()) {
        return bad(exposed);
    }
    // With the end of a line, and one to be too many.
    std::array<char, kLongestSecret + 2> bytes{};
    const ssize_t got = ::read(file.get(), bytes.data(), bytes.size());
    std::string_view secret{bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
    secret = secret.substr(0, secret.size() - (secret.ends_with('\n') ? 1 : 0));
    if (secret.size() < kShortestSecret || secret.size() > kLongestSecret ||
        !std::all_of(secret.begin(), secret.end(), is_secret_char)) {
        return bad(fmt::format("a {} is one line of {} to {} printable characters without a space",
                               name.word, kShortestSecret, kLongestSecret));
    }
    return std::string{secret};
}

}  // namespace sluice
