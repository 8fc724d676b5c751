#pragma once
#include "lib/base/line_memory.hpp"
#include "lib/bucket/pool/line_pool.hpp"
#include "lib/bucket/table/bucket_table.hpp"
#include "lib/bucket/table/recovery_log.hpp"

#include <algorithm>
#include <cstddef>

// The places of the parts of one core's buckets in one piece of memory, such as a file that
// outlives the process:
//
//   | notes | rules | keys | parents | pool |       each begins on a page, large ones on a huge one
namespace sluice {

// How many keys there are to a parent's place.
inline constexpr std::size_t kParentShare = 16;

[[nodiscard]] inline std::size_t parents_for(std::size_t keys) noexcept {
    return std::max<std::size_t>(keys / kParentShare, 1);
}

class StoreLayout {
public:
    StoreLayout(std::size_t keys, std::size_t pool_lines) noexcept
        : keys_bytes_{BucketTable::bytes_for(keys)},
          parents_bytes_{BucketTable::bytes_for(parents_for(keys))},
          pool_lines_{std::min(pool_lines, kMostLines)} {}

    [[nodiscard]] std::size_t rules_at() const noexcept { return kNotesBytes; }
    [[nodiscard]] static std::size_t rules_bytes() noexcept { return kSlots * sizeof(Entry); }
    [[nodiscard]] std::size_t keys_at() const noexcept {
        return aligned(rules_at() + rules_bytes(), keys_bytes_);
    }
    [[nodiscard]] std::size_t keys_bytes() const noexcept { return keys_bytes_; }
    [[nodiscard]] std::size_t parents_at() const noexcept {
        return aligned(keys_at() + keys_bytes_, parents_bytes_);
    }
    [[nodiscard]] std::size_t parents_bytes() const noexcept { return parents_bytes_; }
    [[nodiscard]] std::size_t pool_at() const noexcept {
        return aligned(parents_at() + parents_bytes_, LinePool::bytes_for(pool_lines_));
    }
    [[nodiscard]] std::size_t pool_lines() const noexcept { return pool_lines_; }
    [[nodiscard]] std::size_t bytes() const noexcept {
        return pool_at() + LinePool::bytes_for(pool_lines_);
    }

private:
    static constexpr std::size_t kPage = 4096;
    static constexpr std::size_t kHugePage = std::size_t{2} << 20;
    static constexpr std::size_t kNotesBytes = kPage;
    static_assert(sizeof(RecoveryLog) <= kNotesBytes);

    [[nodiscard]] static std::size_t aligned(std::size_t at, std::size_t size) noexcept {
        const std::size_t page = size >= kHugePage ? kHugePage : kPage;
        return (at + page - 1) / page * page;
    }

    std::size_t keys_bytes_;
    std::size_t parents_bytes_;
    std::size_t pool_lines_;
};

// Memory of that layout, which outlives the store that is made in it.
struct StoreMemory {
    void* base;
    StoreLayout layout;
    std::size_t page_size;

    [[nodiscard]] void* at(std::size_t offset) const noexcept {
        return static_cast<std::byte*>(base) + offset;
    }
    [[nodiscard]] LineMemory tables(std::size_t offset, std::size_t bytes) const noexcept {
        return {at(offset), bytes, page_size};
    }
    [[nodiscard]] RecoveryLog& recovery_log() const noexcept {
        return *static_cast<RecoveryLog*>(base);
    }
};

}  // namespace sluice
