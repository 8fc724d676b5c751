#include "dataplane/read_clock.hpp"
#include "dataplane/state/slots_store.hpp"
#include "dataplane/state/state_region.hpp"
#include "dataplane/state/whole_file.hpp"
#include "lib/base/log.hpp"
#include "lib/base/read_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

// A copy of a region on a disk, for the next boot:
//
//   head | { page of a worker's file } ... | slots.bin | end      pages of zeroes are left out
//
// Each part has a sum of itself and all before it: whole to the end, it is as it was written.
// Workers go on while it is written, so it is as of some instants, and may miss an entry that was
// being moved. The slots come last: they tell of every entry before them.
namespace sluice {
namespace {

constexpr std::size_t kSnapshotPage = 4096;
constexpr std::array<char, 8> kSnapshotMagic{'S', 'L', 'U', 'I', 'C', 'E', 'S', '2'};
constexpr std::uint32_t kSlotsPart = 0xFFFF'FFFE;
constexpr std::uint32_t kEndPart = 0xFFFF'FFFF;

struct PartHead {
    std::uint32_t worker;  // or kSlotsPart, kEndPart
    std::uint32_t size;
    std::uint64_t offset;
    std::uint64_t sum;  // of all before this part, it, and what it holds
};

// The sums of parts, each of which seals all before it.
class SumChain {
public:
    explicit SumChain(std::uint64_t begin) noexcept : so_far_{begin, 0} {}
    [[nodiscard]] std::uint64_t next(PartHead head, ByteView body) noexcept {
        head.sum = 0;
        so_far_[0] =
            siphash_1_3(so_far_, {reinterpret_cast<const std::byte*>(&head), sizeof(head)});
        so_far_[0] = siphash_1_3(so_far_, body);
        return so_far_[0];
    }

private:
    HashSecret so_far_;
};

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

Error snapshot_failed(const std::string& what, const std::string& path) {
    return {Errc::Unreachable,
            "cannot " + what + " the snapshot " + path + ": " + std::strerror(errno)};
}

// The file that parts go to, with the sums that seal them.
struct Parts {
    std::FILE* to;
    SumChain sums;

    [[nodiscard]] bool put(std::uint32_t worker, std::uint64_t offset, ByteView body) {
        PartHead head{worker, static_cast<std::uint32_t>(body.size()), offset, 0};
        head.sum = sums.next(head, body);
        return std::fwrite(&head, sizeof(head), 1, to) == 1 &&
               (body.empty() || std::fwrite(body.data(), body.size(), 1, to) == 1);
    }
};

// Through the file and not through the mapping: nobody else may touch that.
bool put_worker(Parts& parts, const std::string& path, std::uint32_t worker) {
    const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
    if (!file.is_open()) {
        return false;
    }
    std::array<std::byte, kSnapshotPage> page{};
    constexpr std::array<std::byte, kSnapshotPage> kZeroes{};
    std::uint64_t offset = 0;
    for (;; offset += kSnapshotPage) {
        const ssize_t got =
            ::pread(file.get(), page.data(), page.size(), static_cast<off_t>(offset));
        if (got <= 0) {
            return got == 0 && offset != 0;
        }
        if (static_cast<std::size_t>(got) == page.size() && page != kZeroes &&
            !parts.put(worker, offset, page)) {
            return false;
        }
    }
}

// A regular file alone: opening anything else may wait for ever, and it will never be a snapshot.
Result<File> open_snapshot(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info{};
    const bool is_known = fd >= 0 && ::fstat(fd, &info) == 0;
    if (is_known ? !S_ISREG(info.st_mode) : errno == ELOOP || errno == ENXIO) {
        (void)::close(fd);
        return Error{Errc::BadSyntax, "the snapshot " + path + " is no regular file"};
    }
    File file{is_known ? ::fdopen(fd, "rb") : nullptr, &std::fclose};
    if (file == nullptr) {
        const Error failed = snapshot_failed("read", path);
        (void)::close(fd);
        return failed;
    }
    return file;
}

// Why the snapshot ended before its end: it was cut off, or cannot be read just now.
Error read_failed(std::FILE* file, const std::string& path) {
    return std::ferror(file) != 0
               ? snapshot_failed("read", path)
               : Error{Errc::BadSyntax, "the snapshot " + path + " cannot be read"};
}

// Replaces what lies there, which gets another name if one is given, once the new one is whole.
bool put_in_place(const std::string& whole, const std::string& path, const std::string& keep_as) {
    const bool kept = !keep_as.empty() && ::rename(path.c_str(), keep_as.c_str()) == 0;
    if (::rename(whole.c_str(), path.c_str()) == 0) {
        return true;
    }
    const int failed = errno;
    if (kept) {
        (void)::rename(keep_as.c_str(), path.c_str());
    }
    errno = failed;
    return false;
}

}  // namespace

struct StateRegion::SnapshotHead {
    std::array<char, 8> magic{};
    std::int64_t utc = 0;
    std::int64_t instant = 0;
    RegionHeader header;
    std::uint64_t sum = 0;  // of all before it

    [[nodiscard]] std::uint64_t sum_now() const noexcept;
};

std::uint64_t StateRegion::SnapshotHead::sum_now() const noexcept {
    const auto* bytes = reinterpret_cast<const std::byte*>(this);
    return siphash_1_3(HashSecret{}, ByteView{bytes, offsetof(SnapshotHead, sum)});
}

Result<Done> StateRegion::write_snapshot(const StateFolder& folder, const std::string& path,
                                         const std::string& keep_as) const {
    const Result<std::string> place = folder.tables(0, false);
    const std::string temporary = path + ".new";
    (void)::unlink(temporary.c_str());
    const int fd =
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    const File file{fd < 0 ? nullptr : ::fdopen(fd, "wb"), &std::fclose};
    if (!place || file == nullptr) {
        return snapshot_failed("write", temporary);
    }
    SnapshotHead head{.magic = kSnapshotMagic,
                      .utc = read_clock(CLOCK_REALTIME).count(),
                      .instant = read_clock(CLOCK_BOOTTIME).count() + header_.lead,
                      .header = header_};
    head.sum = head.sum_now();
    Parts parts{file.get(), SumChain{head.sum}};
    bool done = std::fwrite(&head, sizeof(head), 1, file.get()) == 1;
    for (std::uint32_t worker = 0; done && worker < shape_.workers; ++worker) {
        done = put_worker(parts, name_of_worker(*place, header_.id, worker), worker);
    }
    const auto slots = read_whole_file(folder.path() + "/slots.bin", kMostSlotBytes);
    done = done && slots && parts.put(kSlotsPart, 0, bytes_of(slots->value_or(""))) &&
           parts.put(kEndPart, 0, {}) && std::fflush(file.get()) == 0 && ::fsync(fd) == 0;
    if (!done || !put_in_place(temporary, path, keep_as)) {
        return snapshot_failed("write", temporary);
    }
    return Done{};
}

// Puts the files where a dataplane that was killed just now would have left them: whoever opens the
// region next finds them.
Result<Done> StateRegion::restore(const StateFolder& folder, const std::string& path,
                                  bool huge_pages) {
    const Result<File> opened = open_snapshot(path);
    SnapshotHead head{};
    if (!opened) {
        return opened.error();
    }
    std::FILE* const file = opened->get();
    if (std::fread(&head, sizeof(head), 1, file) != 1 || head.magic != kSnapshotMagic ||
        head.sum != head.sum_now() || head.utc < 0 || !head.header.check()) {
        return read_failed(file, path);
    }
    const std::int64_t age =
        std::max<std::int64_t>(read_clock(CLOCK_REALTIME).count() - head.utc, 0);
    constexpr std::int64_t kLatest = kLatestBegin.time_since_epoch().count();
    if (head.instant < 0 || head.instant > kLatest || age > kLatest - head.instant) {
        return Error{Errc::BadSyntax, "the snapshot " + path + " is too old"};
    }
    StateShape shape = head.header.shape();
    shape.huge_pages = huge_pages;
    const Result<std::string> place = folder.tables(shape.bytes(), huge_pages);
    if (!place) {
        return place.error();
    }
    Result<StateRegion> region =
        make_files(*place, shape,
                   {head.header.secrets, head.header.lineage,
                    head.instant + age - read_clock(CLOCK_BOOTTIME).count(), true},
                   0);
    if (!region) {
        return region.error();
    }
    // Whole first, then under its name: who is ended in between leaves no part that looks whole.
    Result<Done> done = region->fill_from(file, head, folder, path);
    done = done ? region->install(*place, 0) : done;
    if (!done) {
        region->discard(*place);
        return done;
    }
    log_info("took up a snapshot that is " + std::to_string(age / 1'000'000'000) + " s old");
    return Done{};
}

Result<Done> StateRegion::fill_from(std::FILE* file, const SnapshotHead& head,
                                    const StateFolder& folder, const std::string& path) {
    SumChain sums{head.sum};
    for (PartHead part{}; std::fread(&part, sizeof(part), 1, file) == 1;) {
        if (part.worker == kEndPart && part.sum == sums.next(part, {})) {
            return Done{};
        }
        std::vector<std::byte> bytes(std::min<std::size_t>(part.size, kMostSlotBytes));
        const bool is_page = part.worker < shape_.workers && part.size == kSnapshotPage &&
                             part.offset <= shape_.worker_bytes() &&
                             part.size <= shape_.worker_bytes() - part.offset;
        const bool is_slots = part.worker == kSlotsPart && part.size == bytes.size();
        if ((!is_page && !is_slots) ||
            (!bytes.empty() && std::fread(bytes.data(), bytes.size(), 1, file) != 1) ||
            part.sum != sums.next(part, bytes)) {
            break;
        }
        if (is_page) {
            std::memcpy(worker(part.worker).at(part.offset), bytes.data(), bytes.size());
        } else if (const Result<Done> kept =
                       replace_file(folder.path() + "/slots.bin", bytes, Durable::No);
                   !kept) {
            return kept;
        }
    }
    return read_failed(file, path);
}

}  // namespace sluice
