#pragma once
#include "dataplane/state/state_folder.hpp"
#include "lib/hash/siphash.hpp"
#include "lib/ledger/record.hpp"
#include "lib/table/store_layout.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sluice {

// What must stay the same for as long as buckets are to be found again.
struct StateSecrets {
    HashSecret hash{};
};

// How large the tables are.
struct StateShape {
    std::size_t workers = 1;
    std::size_t keys = 0;  // for each worker
    std::size_t pool_lines = 0;
    bool huge_pages = true;
    std::uint64_t rss_mapping = 0;  // how flows are spread over the workers

    [[nodiscard]] StoreLayout layout() const noexcept { return {keys, pool_lines}; }
    // Accounts of which a worker may have something unsynced at once (lib/ledger): as many as it
    // may have keys, since what is far from its limit waits long; at most two million.
    [[nodiscard]] std::size_t records() const noexcept {
        return workers > 1 ? std::min<std::size_t>(keys + 1, kMostRecords) : 1;
    }
    // Their place in a worker's memory: behind its buckets.
    [[nodiscard]] std::size_t records_at() const noexcept { return whole_pages(layout().bytes()); }
    [[nodiscard]] std::size_t worker_bytes() const noexcept {
        return records_at() + whole_pages(records() * sizeof(Record));
    }
    [[nodiscard]] std::size_t bytes() const noexcept { return workers * worker_bytes(); }

private:
    [[nodiscard]] static std::size_t whole_pages(std::size_t bytes) noexcept {
        constexpr std::size_t kPage = 4096;
        return (bytes + kPage - 1) / kPage * kPage;
    }
};

// A file that is mapped, for as long as this lives.
class Mapping {
public:
    // Made with that size, all of it there, or as it is. An Error says why not.
    [[nodiscard]] static Result<Mapping> make(const std::string& path, std::size_t bytes);
    [[nodiscard]] static Result<Mapping> open(const std::string& path, std::size_t bytes);
    Mapping(Mapping&& other) noexcept
        : data_{std::exchange(other.data_, nullptr)}, bytes_{other.bytes_}, page_{other.page_} {}
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    Mapping& operator=(Mapping&&) = delete;
    ~Mapping();

    [[nodiscard]] void* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t page_size() const noexcept { return page_; }

private:
    Mapping(void* data, std::size_t bytes, std::size_t page) noexcept
        : data_{data}, bytes_{bytes}, page_{page} {}
    [[nodiscard]] static Result<Mapping> map(const std::string& path, int fd, std::size_t bytes);

    void* data_;
    std::size_t bytes_;
    std::size_t page_;
};

// Memory that outlives this process, in named files: a header, and one file for each worker.
class StateRegion {
public:
    // What an earlier process left, if it can be read and has that shape; else a new one, after
    // what there was has been put aside and reported. The secrets stay as long as they can be read.
    [[nodiscard]] static Result<StateRegion> open(const StateFolder& folder,
                                                  const StateShape& shape);
    // A copy for the next boot, written beside what workers do; and such a copy made the region
    // that open() finds, its instants as much later as UTC is.
    [[nodiscard]] Result<Done> write_snapshot(const StateFolder& folder,
                                              const std::string& path) const;
    [[nodiscard]] static Result<Done> restore(const StateFolder& folder, const std::string& path,
                                              bool huge_pages);
    // Whether a region lies there that an earlier boot has not left.
    [[nodiscard]] static bool is_there(const StateFolder& folder);

    // A new one in any case, where nothing lies any more.
    [[nodiscard]] static Result<StateRegion> make_new(const StateFolder& folder,
                                                      const StateShape& shape);
    // Those that had another shape, as long as they are there, and the end of one of them.
    [[nodiscard]] static std::vector<StateRegion> open_former(const StateFolder& folder);
    void remove(const StateFolder& folder) const;
    [[nodiscard]] static StateSecrets fresh_secrets() noexcept;

    [[nodiscard]] const StateSecrets& secrets() const noexcept { return header().secrets; }
    // Of all regions that share secrets and the meaning of slots.
    [[nodiscard]] std::uint64_t lineage() const noexcept { return header().lineage; }
    // Whether there was one before, of this shape or another.
    [[nodiscard]] bool taken_up() const noexcept { return taken_up_; }
    [[nodiscard]] std::size_t workers() const noexcept { return workers_.size(); }
    // How far instants are ahead of CLOCK_BOOTTIME.
    [[nodiscard]] Nanoseconds clock_lead() const noexcept { return Nanoseconds{header().lead}; }
    [[nodiscard]] StoreMemory worker(std::size_t worker) const noexcept {
        return {workers_[worker].data(), shape_.layout(), workers_[worker].page_size()};
    }
    [[nodiscard]] std::span<Record> records(std::size_t worker) const noexcept {
        auto* memory = static_cast<std::byte*>(workers_[worker].data()) + shape_.records_at();
        return {reinterpret_cast<Record*>(memory), shape_.records()};
    }

private:
    struct SnapshotHead;
    static constexpr std::size_t kMostSlots = std::size_t{64} << 20;
    static constexpr std::uint64_t kMostKeys = std::uint64_t{1} << 32;
    struct Header {
        std::array<char, 8> magic{};
        std::uint32_t layout = 0;
        std::uint32_t workers = 0;
        std::array<char, 40> boot_id{};
        std::uint64_t id = 0;  // of the worker files that belong to it
        std::uint64_t keys = 0;
        std::uint64_t pool_lines = 0;
        std::uint64_t rss_mapping = 0;
        std::uint64_t lineage = 0;
        std::int64_t lead = 0;
        StateSecrets secrets;

        [[nodiscard]] bool has_shape(const StateShape& shape) const noexcept {
            return workers == shape.workers && keys == shape.keys &&
                   pool_lines == shape.pool_lines && rss_mapping == shape.rss_mapping;
        }
    };

    StateRegion(Mapping header, const StateShape& shape, bool taken_up) noexcept
        : header_{std::move(header)}, shape_{shape}, taken_up_{taken_up} {}
    [[nodiscard]] const Header& header() const noexcept {
        return *static_cast<const Header*>(header_.data());
    }
    // What a new region goes on with.
    struct Heritage {
        StateSecrets secrets;
        std::uint64_t lineage = 0;
        std::int64_t lead = 0;
        bool taken_up = false;
    };
    [[nodiscard]] static Heritage nothing() noexcept;
    [[nodiscard]] static Result<StateRegion> recover(const std::string& place,
                                                     const StateShape& shape);
    [[nodiscard]] static Result<StateRegion> succeed(const std::string& place,
                                                     const StateShape& shape);
    [[nodiscard]] static Result<Mapping> read_header(const std::string& name);
    [[nodiscard]] static Result<StateRegion> open_files(Mapping header, const std::string& place,
                                                        const StateShape& shape);
    [[nodiscard]] static Result<StateRegion> make(const std::string& place, const StateShape& shape,
                                                  const Heritage& heritage);
    [[nodiscard]] static bool is_readable(const Header& header) noexcept;
    [[nodiscard]] static std::string name_of_worker(const std::string& place, std::uint64_t id,
                                                    std::size_t worker);

    Mapping header_;
    StateShape shape_;
    bool taken_up_;
    std::vector<Mapping> workers_;
};

}  // namespace sluice
