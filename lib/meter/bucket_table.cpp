#include "lib/meter/bucket_table.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

#include <sys/mman.h>

namespace sluice {
namespace {

constexpr std::size_t kEntriesPerLine = 4;
constexpr std::size_t kLineSize = 64;
constexpr std::uint32_t kHeld = 0x8000'0000;  // bit of a tag: in use by the packet at hand

// Two parts of the hash: the tag from the top, the first line from the bottom; the second line by a
// step that the tag decides, so that either line leads to the other.
std::uint32_t tag_of(GroupKey key) noexcept {
    return static_cast<std::uint32_t>(key.hash >> 33);
}
std::size_t step_of(std::uint32_t tag) noexcept {
    return ((std::uint64_t{tag} + 1) * 0x9E37'79B9'7F4A'7C15) >> 16;
}

}  // namespace

// A free entry is all zeroes: its TAT has long passed, so it is idle like any other.
struct BucketTable::Entry {
    std::int64_t tat;     // ns
    std::uint32_t parts;  // plus this many 1/limit.parts() ns
    std::uint32_t tag;    // kHeld and 31 bits of the key's hash

    [[nodiscard]] bool reclaimable(Instant now) const noexcept {
        return (tag & kHeld) == 0 && Instant{Nanoseconds{tat}} <= now;
    }
};

struct alignas(kLineSize) BucketTable::Line {
    Entry entries[kEntriesPerLine];
};

void BucketTable::FreeLines::operator()(Line* lines) const noexcept {
    std::free(lines);
}

BucketTable::BucketTable(std::size_t capacity)
    : mask_{std::bit_ceil((std::max<std::size_t>(capacity, 1) + kEntriesPerLine - 1) /
                          kEntriesPerLine) -
            1} {
    static_assert(sizeof(Line) == kLineSize, "four entries to a line: one miss per line looked at");
    const std::size_t size = (mask_ + 1) * kLineSize;
    constexpr std::size_t kHugePage = std::size_t{2} << 20;
    const std::size_t alignment = size >= kHugePage ? kHugePage : kLineSize;
    void* memory = std::aligned_alloc(alignment, size);
    if (memory == nullptr) {
        std::abort();
    }
    if (alignment == kHugePage) {
        // A hint: without huge pages it only costs TLB misses.
        (void)madvise(memory, size, MADV_HUGEPAGE);
    }
    lines_.reset(new (memory) Line[mask_ + 1]{});
}

std::size_t BucketTable::slots() const noexcept {
    return (mask_ + 1) * kEntriesPerLine;
}

void BucketTable::prefetch(GroupKey key) const noexcept {
    const std::size_t first = key.hash & mask_;
    __builtin_prefetch(&lines_[first], 1);
    __builtin_prefetch(&lines_[first ^ (step_of(tag_of(key)) & mask_)], 1);
}

BucketTable::Place BucketTable::look(GroupKey key, Instant now) noexcept {
    const std::uint32_t tag = tag_of(key);
    const std::size_t first = key.hash & mask_;
    Place idle;
    for (const std::size_t line : {first, first ^ (step_of(tag) & mask_)}) {
        for (Entry& entry : lines_[line].entries) {
            if ((entry.tag & ~kHeld) == tag) {
                entry.tag |= kHeld;
                Place found;
                found.entry_ = &entry;
                return found;
            }
            if (!idle.found() && entry.reclaimable(now)) {
                idle.entry_ = &entry;
            }
        }
    }
    if (idle.found()) {
        *idle.entry_ = {now.time_since_epoch().count(), 0, tag | kHeld};
    }
    return idle;
}

Gcra BucketTable::read(Place place) const noexcept {
    return {Instant{Nanoseconds{place.entry_->tat}}, place.entry_->parts};
}

void BucketTable::write(Place place, const Gcra& bucket) noexcept {
    place.entry_->tat = bucket.fresh_from.time_since_epoch().count();
    place.entry_->parts = bucket.below;
}

void BucketTable::release(Place place) noexcept {
    place.entry_->tag &= ~kHeld;
}

}  // namespace sluice
