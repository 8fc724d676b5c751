#include "dataplane/rules_store.hpp"

#include "lib/wire/codec.hpp"
#include "lib/wire/fd.hpp"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <unistd.h>

namespace sluice {
namespace {

Error failed(const std::string& what, const std::string& path) {
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
    return ::fsync(fd) == 0;
}

}  // namespace

RulesStore::RulesStore(std::string directory)
    : directory_{std::move(directory)}, path_{directory_ + "/ruleset.bin"} {}

Result<Done> RulesStore::save(const ApplyRules& rules) const {
    std::error_code error;
    std::filesystem::create_directories(directory_, error);
    const std::string temporary = path_ + ".new";
    const Fd file{::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
    if (!file.is_open() || !write_all(file.get(), encode(Request{rules}))) {
        return failed("cannot write", temporary);
    }
    if (::rename(temporary.c_str(), path_.c_str()) != 0) {
        return failed("cannot replace", path_);
    }
    const Fd directory{::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!directory.is_open() || ::fsync(directory.get()) != 0) {
        return failed("cannot make durable", directory_);
    }
    return Done{};
}

Result<std::optional<ApplyRules>> RulesStore::load() const {
    std::ifstream file{path_, std::ios::binary};
    if (!file) {
        return std::optional<ApplyRules>{};
    }
    const std::string text{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
    Result<Request> request = decode_request(bytes_of(text));
    if (request) {
        if (auto* rules = std::get_if<ApplyRules>(&*request)) {
            return std::optional{std::move(*rules)};
        }
    }
    const std::string aside = path_ + ".bad-" + std::to_string(::time(nullptr));
    (void)::rename(path_.c_str(), aside.c_str());
    return Error{Errc::BadSyntax, "the saved rule set " + path_ + " cannot be read (" +
                                      (request ? "another message" : request.error().what) +
                                      "); it is kept as " + aside};
}

}  // namespace sluice
