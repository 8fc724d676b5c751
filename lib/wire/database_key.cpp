#include "lib/wire/database_key.hpp"

#include "lib/base/system_user.hpp"
#include "lib/rules/keyed_sum.hpp"
#include "lib/wire/fd.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::string_view kHead = "sluice database key 1\n";
constexpr std::size_t kFileSize = kHead.size() + sizeof(DatabaseKey);

Error no_key(const std::string& what, const std::string& path) {
    return {Errc::Unreachable,
            "cannot " + what + " the key of databases " + path + ": " + std::strerror(errno)};
}

// Whole before it has its name; an Error with errno EEXIST: another one was first.
bool write_key(const std::string& path, const DatabaseKey& key, std::optional<gid_t> group) {
    const std::string temporary = path + ".new-" + std::to_string(::getpid());
    (void)::unlink(temporary.c_str());
    const Fd file{
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
    std::array<char, kFileSize> bytes{};
    std::copy(kHead.begin(), kHead.end(), bytes.begin());
    std::memcpy(bytes.data() + kHead.size(), key.bytes.data(), sizeof(key));
    bool done =
        file.is_open() &&
        ::write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) &&
        ::fsync(file.get()) == 0;
    if (done && group && ::geteuid() == 0) {
        done = ::fchown(file.get(), 0, *group) == 0 && ::fchmod(file.get(), 0640) == 0;
    }
    done = done && ::link(temporary.c_str(), path.c_str()) == 0;
    const int error = errno;
    (void)::unlink(temporary.c_str());
    errno = error;
    return done;
}

}  // namespace

Result<DatabaseKey> read_database_key(const std::string& path) {
    const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    struct stat info{};
    if (!file.is_open() || ::fstat(file.get(), &info) != 0) {
        return no_key("read", path);
    }
    std::array<char, kFileSize + 1> bytes{};
    const bool private_file = S_ISREG(info.st_mode) && (info.st_mode & 0027) == 0;
    const ssize_t got = ::read(file.get(), bytes.data(), bytes.size());
    if (!private_file || got != static_cast<ssize_t>(kFileSize) ||
        !std::string_view{bytes.data(), bytes.size()}.starts_with(kHead)) {
        return Error{Errc::BadSyntax,
                     "the key of databases " + path +
                         (private_file ? " is damaged; remove it, and both programs share a new one"
                                       : " may be read or changed by others; it is to be 0600, or "
                                         "0640 for sluiced's group")};
    }
    DatabaseKey key;
    std::memcpy(key.bytes.data(), bytes.data() + kHead.size(), sizeof(key));
    return key;
}

DatabaseKey random_database_key() {
    DatabaseKey key;
    std::span<std::uint8_t> left{key.bytes};
    while (!left.empty()) {
        const ssize_t got = ::getrandom(left.data(), left.size(), 0);
        left = left.subspan(got > 0 ? static_cast<std::size_t>(got) : 0);
    }
    return key;
}

Result<DatabaseKey> open_database_key(const std::string& path, const std::string& user) {
    Result<DatabaseKey> found = read_database_key(path);
    if (found || errno != ENOENT || found.error().code != Errc::Unreachable) {
        return found;
    }
    std::optional<gid_t> group;
    if (!user.empty()) {
        const Result<SystemUser> owner = user_named(user);
        if (!owner) {
            return owner.error();
        }
        group = owner->gid;
    }
    if (!write_key(path, random_database_key(), group) && errno != EEXIST) {
        return no_key("make", path);
    }
    return read_database_key(path);
}

DatabaseSeal seal_of(const RuleSet& rules, const DatabaseKey& key) {
    const std::vector<TextDatabaseParts>& databases = rules.classifier.parts().texts.databases;
    if (databases.empty()) {
        return {};
    }
    struct Sizes {
        std::uint64_t field;
        std::uint64_t entries;
        std::uint64_t bytes;
    };
    std::vector<Sizes> sizes;
    for (const TextDatabaseParts& database : databases) {
        sizes.push_back({static_cast<std::uint64_t>(database.field), database.entries.size(),
                         database.bytes.size()});
    }
    std::vector<ByteView> parts;
    for (std::size_t i = 0; i < databases.size(); ++i) {
        parts.push_back(std::as_bytes(std::span{&sizes[i], 1}));
        parts.push_back(std::as_bytes(std::span{databases[i].entries}));
        parts.emplace_back(databases[i].bytes);
    }
    return keyed_sum(key.bytes, parts);
}

bool is_sealed(const RuleSet& rules, const DatabaseSeal& seal, const DatabaseKey& key) {
    const DatabaseSeal right = seal_of(rules, key);
    std::uint64_t difference = 0;
    for (std::size_t i = 0; i < right.size(); ++i) {
        difference |= right[i] ^ seal[i];
    }
    return difference == 0;
}

}  // namespace sluice
