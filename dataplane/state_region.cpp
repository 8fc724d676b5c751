#include "dataplane/state_region.hpp"

#include "lib/base/log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::array<char, 8> kMagic{'S', 'L', 'U', 'I', 'C', 'E', 'S', 'T'};
// Raised whenever an entry, a line's state or anything before them changes its form.
constexpr std::uint32_t kLayoutVersion = 1;

Error mapping_failed(const std::string& what, const std::string& path) {
    return {Errc::Unreachable, "cannot " + what + " " + path + ": " + std::strerror(errno)};
}

template <typename T>
void fill_with_randomness(T& bytes) noexcept {
    if (::getrandom(&bytes, sizeof(bytes), 0) != static_cast<ssize_t>(sizeof(bytes))) {
        std::abort();  // a guessable secret would let anybody aim collisions
    }
}

std::array<char, 40> this_boot() {
    std::array<char, 40> id{};
    std::ifstream{"/proc/sys/kernel/random/boot_id"}.read(id.data(), id.size() - 1);
    return id;
}

std::string name_of_worker(const std::string& place, std::uint64_t id, std::size_t worker) {
    return place + "/worker-" + std::to_string(worker) + "-" + std::to_string(id);
}

std::string name_of_header(const std::string& place) {
    return place + "/header";
}

// Files of regions that never came to be, or are no more.
void remove_others(const std::string& place, std::uint64_t id) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator{place, error}) {
        const std::string file = entry.path().filename().string();
        if (file.starts_with("worker-") && !file.ends_with("-" + std::to_string(id))) {
            std::error_code ignored;
            std::filesystem::remove(entry.path(), ignored);
        }
    }
}

}  // namespace

Result<Mapping> Mapping::map(const std::string& path, int fd, std::size_t bytes) {
    struct stat status{};
    if (::fstat(fd, &status) != 0 || static_cast<std::size_t>(status.st_size) < bytes) {
        return Error{Errc::BadSyntax, path + " is shorter than it should be"};
    }
    const auto page = static_cast<std::size_t>(status.st_blksize);
    const std::size_t whole = (bytes + page - 1) / page * page;
    void* data = ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) {
        return mapping_failed("map", path);
    }
    // A hint, and then all of it at once: not under the first packets.
    (void)::madvise(data, whole, MADV_HUGEPAGE);
    (void)::madvise(data, whole, MADV_POPULATE_WRITE);
    return Mapping{data, whole, page};
}

Result<Mapping> Mapping::make(const std::string& path, std::size_t bytes) {
    const Fd file{::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
    struct stat status{};
    if (!file.is_open() || ::fstat(file.get(), &status) != 0) {
        return mapping_failed("make", path);
    }
    const auto page = static_cast<std::size_t>(status.st_blksize);
    const std::size_t whole = (bytes + page - 1) / page * page;
    // Reserved now: memory that is missing later would end the process in the middle of a packet.
    const int failed = ::posix_fallocate(file.get(), 0, static_cast<off_t>(whole));
    if (failed != 0) {
        (void)::unlink(path.c_str());
        errno = failed;
        return mapping_failed("find " + std::to_string(whole >> 10) + " kB for", path);
    }
    return map(path, file.get(), bytes);
}

Result<Mapping> Mapping::open(const std::string& path, std::size_t bytes) {
    const Fd file{::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
    return file.is_open() ? map(path, file.get(), bytes) : mapping_failed("open", path);
}

Mapping::~Mapping() {
    if (data_ != nullptr) {
        (void)::munmap(data_, bytes_);
    }
}

StateSecrets StateRegion::fresh_secrets() noexcept {
    StateSecrets secrets;
    fill_with_randomness(secrets.hash);
    return secrets;
}

bool StateRegion::is_readable(const Header& header) noexcept {
    return header.magic == kMagic && header.layout == kLayoutVersion;
}

Result<StateRegion> StateRegion::make(const std::string& place, const StateShape& shape,
                                      const StateSecrets& secrets) {
    std::uint64_t id = 0;
    fill_with_randomness(id);
    const std::string name = name_of_header(place);
    const std::string temporary = name + ".new";
    (void)::unlink(temporary.c_str());
    remove_others(place, 0);
    Result<Mapping> mapped = Mapping::make(temporary, sizeof(Header));
    if (!mapped) {
        return mapped.error();
    }
    *static_cast<Header*>(mapped->data()) = {
        .magic = kMagic,
        .layout = kLayoutVersion,
        .workers = static_cast<std::uint32_t>(shape.workers),
        .boot_id = this_boot(),
        .id = id,
        .keys = shape.keys,
        .pool_lines = shape.pool_lines,
        .lead = 0,
        .secrets = secrets,
    };
    StateRegion region{*std::move(mapped), shape, false};
    for (std::size_t worker = 0; worker < shape.workers; ++worker) {
        Result<Mapping> file =
            Mapping::make(name_of_worker(place, id, worker), shape.layout().bytes());
        if (!file) {
            remove_others(place, 0);
            return file.error();
        }
        region.workers_.push_back(*std::move(file));
    }
    // From here on it is there, whole.
    if (::rename(temporary.c_str(), name.c_str()) != 0) {
        return mapping_failed("replace", name);
    }
    return region;
}

Result<StateRegion> StateRegion::take_up(const std::string& place, const StateShape& shape) {
    Result<Mapping> mapped = Mapping::open(name_of_header(place), sizeof(Header));
    if (!mapped) {
        return mapped.error();
    }
    const Header& header = *static_cast<const Header*>(mapped->data());
    if (!is_readable(header)) {
        return Error{Errc::BadSyntax, "they are of another layout"};
    }
    if (header.boot_id != this_boot()) {
        return Error{Errc::BadSyntax, "they are of an earlier boot"};
    }
    if (header.workers != shape.workers || header.keys != shape.keys ||
        header.pool_lines != shape.pool_lines) {
        return Error{Errc::BadSyntax, "they are of another size"};
    }
    StateRegion region{*std::move(mapped), shape, true};
    remove_others(place, region.id());
    for (std::size_t worker = 0; worker < shape.workers; ++worker) {
        Result<Mapping> file =
            Mapping::open(name_of_worker(place, region.id(), worker), shape.layout().bytes());
        if (!file) {
            return file.error();
        }
        region.workers_.push_back(*std::move(file));
    }
    return region;
}

Result<StateRegion> StateRegion::make_new(const StateFolder& folder, const StateShape& shape,
                                          const StateSecrets& secrets) {
    const Result<std::string> place = folder.tables(shape.bytes(), shape.huge_pages);
    return place ? make(*place, shape, secrets) : place.error();
}

Result<StateRegion> StateRegion::open(const StateFolder& folder, const StateShape& shape) {
    Result<std::string> place = folder.tables(shape.bytes(), shape.huge_pages);
    if (!place) {
        return place.error();
    }
    StateSecrets secrets = fresh_secrets();
    if (std::filesystem::exists(name_of_header(*place))) {
        Result<StateRegion> found = take_up(*place, shape);
        if (found) {
            return found;
        }
        if (Result<Mapping> old = Mapping::open(name_of_header(*place), sizeof(Header))) {
            const Header& header = *static_cast<const Header*>(old->data());
            secrets = is_readable(header) ? header.secrets : secrets;
        }
        const Result<std::string> aside = folder.put_aside();
        if (!aside) {
            return aside.error();
        }
        log_error("the tables of an earlier dataplane cannot be used: " + found.error().what +
                  "; they are kept as " + *aside + ", and all buckets begin anew");
    }
    return make_new(folder, shape, secrets);
}

}  // namespace sluice
