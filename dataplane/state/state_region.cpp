#include "dataplane/state/state_region.hpp"

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
constexpr std::uint32_t kLayoutVersion = 3;

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

std::string name_of_header(const std::string& place) {
    return place + "/header";
}

std::string name_of_former(const std::string& place, std::uint64_t id) {
    return place + "/former-" + std::to_string(id);
}

// The files whose names begin like that.
std::vector<std::string> files_of(const std::string& place, std::string_view beginning) {
    std::vector<std::string> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator{place, error}) {
        if (entry.path().filename().string().starts_with(beginning)) {
            found.push_back(entry.path().string());
        }
    }
    return found;
}

// The workers' files of a region.
void remove_workers(const std::string& place, const std::string& id) {
    for (const std::string& file : files_of(place, "worker-")) {
        if (file.ends_with("-" + id)) {
            (void)::unlink(file.c_str());
        }
    }
}

// Those that are looked into, each of which costs memory and time; the oldest of too many are given
// up, which is said.
std::vector<std::string> latest_former(const std::string& place) {
    constexpr std::size_t kMaxPrevious = 8;
    std::vector<std::string> names = files_of(place, "former-");
    std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
        std::error_code error;
        return std::filesystem::last_write_time(a, error) >
               std::filesystem::last_write_time(b, error);
    });
    while (names.size() > kMaxPrevious) {
        const std::string& oldest = names.back();
        log_error("the tables had other shapes too often: what is owed in " + oldest +
                  " is forgotten");
        const std::string id = oldest.substr(oldest.rfind('-') + 1);
        (void)::unlink(oldest.c_str());
        remove_workers(place, id);
        names.pop_back();
    }
    return names;
}

// Files of regions that never came to be: neither in use nor former.
void remove_unfinished(const std::string& place, std::uint64_t in_use) {
    const std::string former = place + "/former-";
    for (const std::string& file : files_of(place, "worker-")) {
        const std::string id = file.substr(file.rfind('-') + 1);
        if (id != std::to_string(in_use) && !std::filesystem::exists(former + id)) {
            (void)::unlink(file.c_str());
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

std::string StateRegion::name_of_worker(const std::string& place, std::uint64_t id,
                                        std::size_t worker) {
    return place + "/worker-" + std::to_string(worker) + "-" + std::to_string(id);
}

StateSecrets StateRegion::fresh_secrets() noexcept {
    StateSecrets secrets;
    fill_with_randomness(secrets.hash);
    return secrets;
}

bool StateRegion::is_readable(const Header& header) noexcept {
    // Sizes that others wrote: what follows from them must not overflow, and be found in files.
    return header.magic == kMagic && header.layout == kLayoutVersion && header.workers != 0 &&
           header.workers <= kMaxCores && header.keys != 0 && header.keys <= kMostKeys &&
           header.pool_lines <= kMostKeys;
}

StateRegion::Heritage StateRegion::nothing() noexcept {
    Heritage heritage{.secrets = fresh_secrets()};
    fill_with_randomness(heritage.lineage);
    return heritage;
}

Result<StateRegion> StateRegion::make(const std::string& place, const StateShape& shape,
                                      const Heritage& heritage) {
    std::uint64_t id = 0;
    fill_with_randomness(id);
    const std::string name = name_of_header(place);
    const std::string temporary = name + ".new";
    (void)::unlink(temporary.c_str());
    remove_unfinished(place, id);
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
        .rss_mapping = shape.rss_mapping,
        .lineage = heritage.lineage,
        .lead = heritage.lead,
        .secrets = heritage.secrets,
    };
    StateRegion region{*std::move(mapped), shape, heritage.taken_up};
    for (std::size_t worker = 0; worker < shape.workers; ++worker) {
        Result<Mapping> file =
            Mapping::make(name_of_worker(place, id, worker), shape.worker_bytes());
        if (!file) {
            remove_workers(place, std::to_string(id));
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

Result<Mapping> StateRegion::read_header(const std::string& name) {
    Result<Mapping> mapped = Mapping::open(name, sizeof(Header));
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
    return mapped;
}

Result<StateRegion> StateRegion::open_files(Mapping header, const std::string& place,
                                            const StateShape& shape) {
    StateRegion region{std::move(header), shape, true};
    for (std::size_t worker = 0; worker < shape.workers; ++worker) {
        Result<Mapping> file =
            Mapping::open(name_of_worker(place, region.header().id, worker), shape.worker_bytes());
        if (!file) {
            return file.error();
        }
        region.workers_.push_back(*std::move(file));
    }
    return region;
}

// What is there with this shape; with another, it becomes former and is succeeded.
Result<StateRegion> StateRegion::recover(const std::string& place, const StateShape& shape) {
    Result<Mapping> mapped = read_header(name_of_header(place));
    if (!mapped) {
        return mapped.error();
    }
    const Header& header = *static_cast<const Header*>(mapped->data());
    if (header.has_shape(shape)) {
        remove_unfinished(place, header.id);
        return open_files(*std::move(mapped), place, shape);
    }
    if (::rename(name_of_header(place).c_str(), name_of_former(place, header.id).c_str()) != 0) {
        return mapping_failed("rename", name_of_header(place));
    }
    return succeed(place, shape);
}

// A region after former ones, whose secrets and slots it goes on with.
Result<StateRegion> StateRegion::succeed(const std::string& place, const StateShape& shape) {
    const Result<Mapping> mapped = read_header(latest_former(place).front());
    if (!mapped) {
        return mapped.error();
    }
    const Header& header = *static_cast<const Header*>(mapped->data());
    log_info(
        "the tables have another size, number of workers or spreading of flows than before; what "
        "keys owe is taken over as they come");
    return make(place, shape, {header.secrets, header.lineage, header.lead, true});
}

std::vector<StateRegion> StateRegion::open_former(const StateFolder& folder) {
    std::vector<StateRegion> regions;
    const Result<std::string> place = folder.tables(0, false);
    if (!place) {
        return regions;
    }
    for (const std::string& name : latest_former(*place)) {
        Result<Mapping> mapped = read_header(name);
        if (!mapped) {
            log_error("the former tables " + name + " cannot be used: " + mapped.error().what);
            continue;
        }
        const Header& header = *static_cast<const Header*>(mapped->data());
        const StateShape shape{.workers = header.workers,
                               .keys = header.keys,
                               .pool_lines = header.pool_lines,
                               .rss_mapping = header.rss_mapping};
        Result<StateRegion> region = open_files(*std::move(mapped), *place, shape);
        if (region) {
            regions.push_back(*std::move(region));
        } else {
            log_error("the former tables " + name + " cannot be used: " + region.error().what);
        }
    }
    return regions;
}

void StateRegion::remove(const StateFolder& folder) const {
    if (const Result<std::string> place = folder.tables(0, false)) {
        (void)::unlink(name_of_former(*place, header().id).c_str());
        remove_workers(*place, std::to_string(header().id));
    }
}

Result<StateRegion> StateRegion::make_new(const StateFolder& folder, const StateShape& shape) {
    const Result<std::string> place = folder.tables(shape.bytes(), shape.huge_pages);
    return place ? make(*place, shape, nothing()) : place.error();
}

// What cannot be read is not to be replaced: open() reports it and keeps it aside.
bool StateRegion::is_there(const StateFolder& folder) {
    const std::string place = folder.path() + "/tables";
    const std::vector<std::string> former = files_of(place, "former-");
    const std::string name = former.empty() ? name_of_header(place) : former.front();
    if (!std::filesystem::exists(name)) {
        return false;
    }
    const Result<Mapping> mapped = Mapping::open(name, sizeof(Header));
    const Header* header = mapped ? static_cast<const Header*>(mapped->data()) : nullptr;
    return header == nullptr || !is_readable(*header) || header->boot_id == this_boot();
}

Result<StateRegion> StateRegion::open(const StateFolder& folder, const StateShape& shape) {
    const Result<std::string> place = folder.tables(shape.bytes(), shape.huge_pages);
    if (!place) {
        return place.error();
    }
    const bool is_there = std::filesystem::exists(name_of_header(*place));
    if (!is_there && files_of(*place, "former-").empty()) {
        return make_new(folder, shape);
    }
    // Without a header, a process was killed while it made one.
    Result<StateRegion> found = is_there ? recover(*place, shape) : succeed(*place, shape);
    if (found) {
        return found;
    }
    const Result<std::string> aside = folder.put_aside();
    if (!aside) {
        return aside.error();
    }
    log_error("the tables of an earlier dataplane cannot be used: " + found.error().what +
              "; they are kept as " + *aside + ", and all buckets begin anew");
    return make_new(folder, shape);
}

}  // namespace sluice
