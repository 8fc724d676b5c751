#pragma once
#include "lib/bucket/hash/siphash.hpp"
#include "lib/bucket/table/store_layout.hpp"
#include "lib/peer/merge/record.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sluice {

// How large the tables are.
struct StateShape {
    std::size_t workers = 1;
    std::size_t keys = 0;  // for each worker
    std::size_t pool_lines = 0;
    bool huge_pages = true;
    std::uint64_t rss_mapping = 0;  // how flows are spread over the workers
    bool tells_store = false;       // of a cluster, so that a lone worker has records too
    // By which new tables name their keys; nullopt: by one of this installation's own.
    std::optional<HashSecret> secret{};

    [[nodiscard]] StoreLayout layout() const noexcept { return {keys, pool_lines}; }
    // Accounts of which a worker may have something unsynced at once (lib/peer/merge): as many as
    // it may have keys, since what is far from its limit waits long; at most two million.
    [[nodiscard]] std::size_t records() const noexcept {
        return workers > 1 || tells_store ? std::min<std::size_t>(keys + 1, kMostRecords) : 1;
    }
    // The place of records in a worker's memory: behind its buckets.
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

}  // namespace sluice
