#include "dataplane/state/state_region.hpp"
#include "dataplane/state/whole_file.hpp"
#include "lib/base/log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <unistd.h>

// A copy of a region on a disk, for the next boot:
//
//   head | { page of a worker's file } ... | slots.bin | end      pages of zeroes are left out
//
// Workers go on while it is written, so it is as of some instants, and may miss an entry that was
// being moved. The slots come last: they tell of every entry before them.
namespace sluice {
namespace {

constexpr std::size_t kSnapshotPage = 4096;
constexpr std::array<char, 8> kSnapshotMagic{'S', 'L', 'U', 'I', 'C', 'E', 'S', 'N'};
constexpr std::uint32_t kSlotsPart = 0xFFFF'FFFE;
constexpr std::uint32_t kEndPart = 0xFFFF'FFFF;
// Instants beyond this would come near what an entry holds.
constexpr std::int64_t kLatestInstant = std::int64_t{1} << 55;

struct PartHead {
    std::uint32_t worker;  // or kSlotsPart, kEndPart
    std::uint32_t size;
    std::uint64_t offset;
};

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

std::int64_t clock_now(clockid_t clock) {
    timespec now{};
    (void)::clock_gettime(clock, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

Error snapshot_failed(const std::string& what, const std::string& path) {
    return {Errc::Unreachable,
            "cannot " + what + " the snapshot " + path + ": " + std::strerror(errno)};
}

bool put_part(std::FILE* to, const PartHead& head, const void* bytes) {
    return std::fwrite(&head, sizeof(head), 1, to) == 1 &&
           (bytes == nullptr || head.size == 0 || std::fwrite(bytes, head.size, 1, to) == 1);
}

// Through the file and not through the mapping: nobody else may touch that.
bool put_worker(std::FILE* to, const std::string& path, std::uint32_t worker) {
    const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
    if (!file.is_open()) {
        return false;
    }
    std::array<char, kSnapshotPage> page{};
    constexpr std::array<char, kSnapshotPage> kZeroes{};
    std::uint64_t offset = 0;
    for (;; offset += kSnapshotPage) {
        const ssize_t got =
            ::pread(file.get(), page.data(), page.size(), static_cast<off_t>(offset));
        if (got <= 0) {
            return got == 0 && offset != 0;
        }
        if (static_cast<std::size_t>(got) == page.size() && page != kZeroes &&
            !put_part(to, {worker, kSnapshotPage, offset}, page.data())) {
            return false;
        }
    }
}

std::string whole_text(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
}

}  // namespace

struct StateRegion::SnapshotHead {
    std::array<char, 8> magic{};
    std::int64_t utc = 0;
    std::int64_t instant = 0;
    Header header;
};

Result<Done> StateRegion::write_snapshot(const StateFolder& folder, const std::string& path) const {
    const Result<std::string> place = folder.tables(0, false);
    const std::string temporary = path + ".new";
    const int fd =
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    const File file{fd < 0 ? nullptr : ::fdopen(fd, "wb"), &std::fclose};
    if (!place || file == nullptr) {
        return snapshot_failed("write", temporary);
    }
    const SnapshotHead head{.magic = kSnapshotMagic,
                            .utc = clock_now(CLOCK_REALTIME),
                            .instant = clock_now(CLOCK_BOOTTIME) + header().lead,
                            .header = header()};
    bool done = std::fwrite(&head, sizeof(head), 1, file.get()) == 1;
    for (std::uint32_t worker = 0; done && worker < header().workers; ++worker) {
        done = put_worker(file.get(), name_of_worker(*place, header().id, worker), worker);
    }
    const std::string slots = whole_text(folder.path() + "/slots.bin");
    done = done &&
           put_part(file.get(), {kSlotsPart, static_cast<std::uint32_t>(slots.size()), 0},
                    slots.data()) &&
           put_part(file.get(), {kEndPart, 0, 0}, nullptr) && std::fflush(file.get()) == 0 &&
           ::fsync(fd) == 0;
    if (!done || ::rename(temporary.c_str(), path.c_str()) != 0) {
        return snapshot_failed("write", temporary);
    }
    return Done{};
}

// Puts the files where a dataplane that was killed just now would have left them: whoever opens the
// region next finds them.
Result<Done> StateRegion::restore(const StateFolder& folder, const std::string& path,
                                  bool huge_pages) {
    const File file{std::fopen(path.c_str(), "rb"), &std::fclose};
    SnapshotHead head{};
    if (file == nullptr) {
        return snapshot_failed("read", path);
    }
    const Error broken{Errc::BadSyntax, "the snapshot " + path + " cannot be read"};
    if (std::fread(&head, sizeof(head), 1, file.get()) != 1 || head.magic != kSnapshotMagic ||
        head.utc < 0 || !is_readable(head.header)) {
        return broken;
    }
    const std::int64_t age = std::max<std::int64_t>(clock_now(CLOCK_REALTIME) - head.utc, 0);
    if (head.instant < 0 || head.instant > kLatestInstant || age > kLatestInstant - head.instant) {
        return Error{Errc::OutOfRange, "the snapshot " + path + " is too old"};
    }
    const StateShape shape{.workers = head.header.workers,
                           .keys = head.header.keys,
                           .pool_lines = head.header.pool_lines,
                           .huge_pages = huge_pages,
                           .rss_mapping = head.header.rss_mapping};
    const Result<std::string> place = folder.tables(shape.bytes(), huge_pages);
    if (!place) {
        return place.error();
    }
    const Result<StateRegion> region = make(*place, shape,
                                            {head.header.secrets, head.header.lineage,
                                             head.instant + age - clock_now(CLOCK_BOOTTIME), true});
    if (!region) {
        return region.error();
    }
    for (PartHead part{}; std::fread(&part, sizeof(part), 1, file.get()) == 1;) {
        if (part.worker == kEndPart) {
            log_info("took up a snapshot that is " + std::to_string(age / 1'000'000'000) +
                     " s old");
            return Done{};
        }
        std::vector<std::byte> bytes(std::min<std::size_t>(part.size, kMostSlots));
        const bool is_page = part.worker < shape.workers && part.size == kSnapshotPage &&
                             part.offset <= shape.worker_bytes() &&
                             part.size <= shape.worker_bytes() - part.offset;
        const bool is_slots = part.worker == kSlotsPart && part.size == bytes.size();
        if ((!is_page && !is_slots) ||
            (!bytes.empty() && std::fread(bytes.data(), bytes.size(), 1, file.get()) != 1)) {
            break;
        }
        if (is_page) {
            std::memcpy(region->worker(part.worker).at(part.offset), bytes.data(), bytes.size());
        } else if (const Result<Done> kept =
                       replace_file(folder.path() + "/slots.bin", bytes, Durable::No);
                   !kept) {
            return kept;
        }
    }
    return broken;
}

}  // namespace sluice
