#pragma once
#include "lib/meter/gcra.hpp"
#include "lib/meter/group_key.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

// All buckets of one core: fixed memory, single writer, two places a key can lie.
//
//   key hash --> line a  [ tat | parts | tag ] x 4     one 64-byte line
//            `-> line b  [ tat | parts | tag ] x 4
//
// An entry equals a fresh bucket from its TAT on, so what is idle is reclaimed where it is met:
// no sweeper, and a live debt is never forgotten. If all eight entries are live, there is no place,
// and the rule's on_full says what happens.
namespace sluice {

class BucketTable {
    struct Entry;

public:
    // An entry found or reserved; good until release().
    class Place {
    public:
        constexpr Place() noexcept = default;
        [[nodiscard]] constexpr bool found() const noexcept { return entry_ != nullptr; }

    private:
        friend class BucketTable;
        Entry* entry_ = nullptr;
    };

    // At least `capacity` entries; rounded up to a power of two. Aborts if there is no memory.
    explicit BucketTable(std::size_t capacity);

    [[nodiscard]] std::size_t slots() const noexcept;

    void prefetch(GroupKey key) const noexcept;

    // The key's entry, or an idle one made fresh for it and held so that no other look takes it
    // before release(). Not found: all entries it could have are live or held.
    [[nodiscard]] Place look(GroupKey key, Instant now) noexcept;
    [[nodiscard]] Gcra read(Place place) const noexcept;
    void write(Place place, const Gcra& bucket) noexcept;
    // Ends the hold. What was only looked at is as reclaimable as before.
    void release(Place place) noexcept;

private:
    struct Line;
    struct FreeLines {
        void operator()(Line* lines) const noexcept;
    };
    std::size_t mask_;
    std::unique_ptr<Line[], FreeLines> lines_;
};

}  // namespace sluice
