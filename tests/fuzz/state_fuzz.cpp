#include "dataplane/state/rss_key_store.hpp"
#include "dataplane/state/state_files.hpp"
#include "dataplane/state/state_region.hpp"
#include "lib/bucket/table/bucket_store.hpp"
#include "lib/peer/merge/record_pool.hpp"
#include "tests/fuzz/accepted.hpp"

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

// A snapshot, tables that are found, or the RSS key with some of its bytes changed: refused, or
// something that can be gone on with. The input: what is changed (`h` the header, `w` a worker's
// file, `k` the RSS key, else the snapshot), then three bytes a change: where (of its length, so
// that all of it is met), and the new byte. `H` and `S`: header and snapshot with sums that are
// right, as of one who computes them.
namespace sluice {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<char>;

constexpr StateShape kShape{.workers = 1, .keys = 64, .pool_lines = 32, .huge_pages = false};
constexpr LimitSlot kBuckets = 1;
constexpr LimitSlot kLogs = 2;

const std::vector<SlotRow>& rows() {
    static const AnyLimit kBucket = TokenBucketLimit{*Limit::make({Units{10}, 1s}, Units{1'000})};
    static const AnyLimit kLog = SlidingLogLimit{*make_window_numbers(Units{10}, 1s)};
    static const std::vector<SlotRow> kRows = [] {
        std::vector<SlotRow> rows(3);
        rows[kBuckets].limit = &kBucket;
        rows[kLogs].limit = &kLog;
        return rows;
    }();
    return kRows;
}

Bytes read(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
}

void write(const std::string& path, const Bytes& bytes) {
    std::ofstream{path, std::ios::binary | std::ios::trunc}.write(
        bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// What a process has left: entries of both limits, and amounts that were not synced.
void fill(const StateRegion& region) {
    const Now now{.at = Instant{1h}};
    BucketStore store{region.worker(0)};
    store.adopt(rows(), 0, 1h, now);
    for (std::uint64_t key = 1; key <= 40; ++key) {
        const TableKey table_key{GroupKey{key * 0x9E37'79B9'7F4A'7C15},
                                 key % 2 == 0 ? kBuckets : kLogs};
        Entry* entry = store.keys.make_place(table_key, store.registry, now);
        if (entry != nullptr) {
            entry->file({now.at + 10min, 0}, table_key.slot_and_tag, {});
            entry->release();
        }
    }
    RecordPool records{region.records(0), 2, now.at};
    (void)records.add({.hash = 7, .slot = kBuckets, .aggregation_level = 0}, 5, now.at);
}

class Place {
public:
    Place()
        : directory_{std::string{std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : "/tmp"} +
                     "/state_fuzz_" + std::to_string(::getpid())} {
        std::filesystem::remove_all(directory_);
        // Sizes that are sound but large are the kernel's to refuse.
        const rlimit small{.rlim_cur = 16U << 20, .rlim_max = RLIM_INFINITY};
        (void)::setrlimit(RLIMIT_FSIZE, &small);
        (void)std::signal(SIGXFSZ, SIG_IGN);
        const auto folder = StateFolder::open(directory_);
        if (!folder) {
            std::abort();
        }
        {
            const auto region = StateRegion::open(*folder, kShape);
            fill(*region);
            if (!region->write_snapshot(*folder, snapshot())) {
                std::abort();
            }
        }
        whole_ = read(snapshot());
        header_ = read(header());
        worker_ = read(worker());
        (void)load_rss_keys(directory_);
        key_ = read(key());
    }
    ~Place() { std::filesystem::remove_all(directory_); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    [[nodiscard]] std::string directory() const { return directory_; }
    [[nodiscard]] std::string snapshot() const { return directory_ + "/snapshot"; }
    [[nodiscard]] std::string header() const { return directory_ + "/tables/header"; }
    // The only one.
    [[nodiscard]] std::string worker() const {
        for (const auto& entry : std::filesystem::directory_iterator{directory_ + "/tables"}) {
            if (entry.path().filename().string().starts_with("worker-")) {
                return entry.path().string();
            }
        }
        std::abort();
    }
    [[nodiscard]] std::string key() const { return directory_ + "/" + kRssKeyFile; }
    [[nodiscard]] const Bytes& whole_worker() const { return worker_; }
    [[nodiscard]] const Bytes& whole_key() const { return key_; }
    [[nodiscard]] const Bytes& whole_snapshot() const { return whole_; }
    [[nodiscard]] const Bytes& whole_header() const { return header_; }

private:
    std::string directory_;
    Bytes whole_;
    Bytes header_;
    Bytes worker_;
    Bytes key_;
};

Bytes changed(Bytes bytes, const std::uint8_t* data, std::size_t size) {
    for (std::size_t i = 0; i + 3 <= size; i += 3) {
        const std::size_t where = (std::size_t{data[i]} << 8) | data[i + 1];
        bytes[where % bytes.size()] = static_cast<char>(data[i + 2]);
    }
    if (size % 3 == 1) {
        bytes.resize(bytes.size() * data[size - 1] / 256);  // cut off
    }
    return bytes;
}

std::uint64_t sum_of(const HashSecret& secret, const char* from, std::size_t size) {
    return siphash_1_3(secret, {reinterpret_cast<const std::byte*>(from), size});
}

// The header at that place of a file.
void seal_header(Bytes& bytes, std::size_t at) {
    RegionHeader header;
    if (bytes.size() >= at + sizeof(header)) {
        std::memcpy(&header, bytes.data() + at, sizeof(header));
        header.seal();
        std::memcpy(bytes.data() + at, &header, sizeof(header));
    }
}

// head { magic, utc, instant, header, sum } then parts { worker: 4, size: 4, offset: 8, sum: 8 }
void seal_snapshot(Bytes& bytes) {
    constexpr std::size_t kBefore = 24;
    constexpr std::size_t kHead = kBefore + sizeof(RegionHeader);
    constexpr std::size_t kPart = 24;
    if (bytes.size() < kHead + sizeof(std::uint64_t)) {
        return;
    }
    seal_header(bytes, kBefore);
    HashSecret so_far{sum_of({}, bytes.data(), kHead), 0};
    std::memcpy(bytes.data() + kHead, so_far.data(), sizeof(std::uint64_t));
    std::size_t at = kHead + sizeof(std::uint64_t);
    while (bytes.size() - at >= kPart) {
        std::uint32_t size = 0;
        std::memcpy(&size, bytes.data() + at + 4, sizeof(size));
        if (size > bytes.size() - at - kPart) {
            return;
        }
        std::memset(bytes.data() + at + 16, 0, 8);
        so_far[0] = sum_of(so_far, bytes.data() + at, kPart);
        so_far[0] = sum_of(so_far, bytes.data() + at + kPart, size);
        std::memcpy(bytes.data() + at + 16, so_far.data(), 8);
        at += kPart + size;
    }
}

// As a dataplane does that starts.
void go_on(const StateFolder& folder, const StateShape& shape) {
    const auto region = StateRegion::open(folder, shape);
    if (!region) {
        return;
    }
    const Now now{.at = Instant{2h}};
    BucketStore store{region->worker(0)};
    static test::AcceptedInputs accepted;
    accepted.add(store.recover(rows(), now).live != 0);
    store.adopt(rows(), 0, 1h, now);
    for (int burst = 0; burst < 200; ++burst) {
        (void)store.begin_burst({.at = now.at + burst * 1s});
    }
    const RecordPool records{region->records(0), 2, now.at};
    for (const StateRegion& previous : StateRegion::open_former(folder)) {
        BucketStore found{previous.worker(0)};
        (void)found.recover(rows(), now);
    }
}

// Tables that are found, some bytes of which are others: `what` as the input has it.
void find_tables(const Place& place, const StateFolder& folder, char what, const Bytes& changes) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(changes.data());
    if (!StateRegion::restore(folder, place.snapshot(), false)) {
        std::abort();
    }
    if (what == 'w') {
        write(place.worker(), changed(place.whole_worker(), data, changes.size()));
        go_on(folder, kShape);
        return;
    }
    Bytes header = changed(place.whole_header(), data, changes.size());
    if (what == 'H') {
        seal_header(header, 0);
    }
    write(place.header(), header);
    go_on(folder, {.workers = 1, .keys = 128, .pool_lines = 32, .huge_pages = false});
}

void find_keys(const Place& place, const Bytes& changes) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(changes.data());
    write(place.key(), changed(place.whole_key(), data, changes.size()));
    (void)load_rss_keys(place.directory());
}

void find_snapshot(const Place& place, const StateFolder& folder, char what, const Bytes& changes) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(changes.data());
    Bytes snapshot = changed(place.whole_snapshot(), data, changes.size());
    if (what == 'S') {
        seal_snapshot(snapshot);
    }
    write(place.snapshot(), snapshot);
    if (StateRegion::restore(folder, place.snapshot(), false)) {
        go_on(folder, kShape);
    }
}

}  // namespace
}  // namespace sluice

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    static const Place place;
    const auto folder = StateFolder::open(place.directory());
    if (!folder || size == 0) {
        return 0;
    }
    (void)folder->forget();
    write(place.snapshot(), place.whole_snapshot());
    const char what = static_cast<char>(data[0]);
    const std::vector<char> changes{data + 1, data + size};
    switch (what) {
        case 'k':
            find_keys(place, changes);
            break;
        case 'h':
        case 'H':
        case 'w':
            find_tables(place, *folder, what, changes);
            break;
        default:
            find_snapshot(place, *folder, what, changes);
    }
    return 0;
}
