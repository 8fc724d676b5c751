#include "dataplane/state/state_region.hpp"
#include "lib/ledger/record_pool.hpp"
#include "lib/table/bucket_store.hpp"

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

// A snapshot, or the header of tables that are found, with some of its bytes changed: refused, or
// tables that can be gone on with. The input: what is changed (`h` the header, else the snapshot),
// then three bytes a change: where (of its length, so that all of it is met), and the new byte.
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
    }
    ~Place() { std::filesystem::remove_all(directory_); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    [[nodiscard]] std::string directory() const { return directory_; }
    [[nodiscard]] std::string snapshot() const { return directory_ + "/snapshot"; }
    [[nodiscard]] std::string header() const { return directory_ + "/tables/header"; }
    [[nodiscard]] const Bytes& whole_snapshot() const { return whole_; }
    [[nodiscard]] const Bytes& whole_header() const { return header_; }

private:
    std::string directory_;
    Bytes whole_;
    Bytes header_;
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

// As a dataplane does that starts.
void go_on(const StateFolder& folder, const StateShape& shape) {
    const auto region = StateRegion::open(folder, shape);
    if (!region) {
        return;
    }
    const Now now{.at = Instant{2h}};
    BucketStore store{region->worker(0)};
    (void)store.recover(rows());
    store.adopt(rows(), 0, 1h, now);
    for (int burst = 0; burst < 200; ++burst) {
        (void)store.begin_burst({.at = now.at + burst * 1s});
    }
    const RecordPool records{region->records(0), 2, now.at};
    for (const StateRegion& previous : StateRegion::open_former(folder)) {
        BucketStore found{previous.worker(0)};
        (void)found.recover(rows());
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
    if (data[0] == 'h') {
        if (!StateRegion::restore(*folder, place.snapshot(), false)) {
            std::abort();
        }
        write(place.header(), changed(place.whole_header(), data + 1, size - 1));
        go_on(*folder, {.workers = 1, .keys = 128, .pool_lines = 32, .huge_pages = false});
        return 0;
    }
    write(place.snapshot(), changed(place.whole_snapshot(), data, size));
    if (StateRegion::restore(*folder, place.snapshot(), false)) {
        go_on(*folder, kShape);
    }
    return 0;
}
