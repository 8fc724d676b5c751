#include "control/daemon/kept_file.hpp"

#include "control/text_file.hpp"
#include "lib/wire/fd.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::size_t kLargest = 256U << 20;  // the largest rule file, every byte of it escaped

Error failed(const std::string& what, const std::string& path) {
    return {Errc::Unreachable, what + " " + path + ": " + std::strerror(errno)};
}

bool write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return ::fsync(fd) == 0;
}

}  // namespace

PendingFile::PendingFile(std::string from, std::string into)
    : from_{std::move(from)}, into_{std::move(into)} {}

PendingFile::PendingFile(PendingFile&& other) noexcept
    : from_{std::exchange(other.from_, {})}, into_{std::move(other.into_)} {}

PendingFile::~PendingFile() {
    if (!from_.empty()) {
        (void)::unlink(from_.c_str());
    }
}

Result<PendingFile> PendingFile::write(const std::string& path, const std::string& text) {
    PendingFile pending{path + ".new", path};
    // A process that was killed has left it, or somebody else has put a link there.
    (void)::unlink(pending.from_.c_str());
    const Fd file{
        ::open(pending.from_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
    if (!file.is_open() || !write_all(file.get(), text)) {
        return failed("cannot write", pending.from_);
    }
    return pending;
}

Result<Done> PendingFile::commit() {
    const Result<Done> renamed = rename_file(from_, into_);
    if (renamed) {
        from_.clear();
    }
    return renamed ? sync_folder_of(into_) : renamed;
}

Result<std::optional<std::string>> read_kept_file(const std::string& path) {
    std::error_code error;
    if (std::filesystem::status(path, error).type() == std::filesystem::file_type::not_found) {
        return std::optional<std::string>{};
    }
    Result<std::string> text = read_text_file(path, kLargest);
    if (!text) {
        return text.error();
    }
    return std::optional{*std::move(text)};
}

Error put_aside(const std::string& path, const std::string& why) {
    const std::string aside = path + ".bad-" + std::to_string(::time(nullptr));
    const bool kept = ::rename(path.c_str(), aside.c_str()) == 0;
    return {Errc::BadSyntax, "the stored rules " + path + " cannot be read (" + why + ")" +
                                 (kept ? "; they are kept as " + aside : "")};
}

std::string sum_of(std::string_view text) {
    std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x0000'0100'0000'01B3;
    }
    return fmt::format("{:016x}", hash);
}

Result<Done> rename_file(const std::string& from, const std::string& into) {
    if (::rename(from.c_str(), into.c_str()) != 0) {
        return failed("cannot replace", into);
    }
    return Done{};
}

Result<Done> remove_file(const std::string& path) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
        return failed("cannot remove", path);
    }
    return sync_folder_of(path);
}

Result<Done> sync_folder_of(const std::string& path) {
    const std::string directory = std::filesystem::path{path}.parent_path().string();
    const Fd folder{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!folder.is_open() || ::fsync(folder.get()) != 0) {
        return failed("cannot make durable", directory);
    }
    return Done{};
}

}  // namespace sluice
