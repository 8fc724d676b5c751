#pragma once
#include "lib/bucket/table/bucket_store.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sluice {

// A walk over one worker's entries by a thread that never writes them: positions below size(), the
// keys first, then the wider networks. An entry that is being moved may be missed or come twice.
class TableReader {
public:
    explicit TableReader(const BucketStore& store) noexcept : store_{store} {}

    [[nodiscard]] std::size_t size() const noexcept {
        return store_.keys.slots() + store_.parents.slots();
    }
    [[nodiscard]] Entry read(std::size_t position) const noexcept {
        return position < store_.keys.slots() ? store_.keys.read(position)
                                              : store_.parents.read(position - store_.keys.slots());
    }
    // True if a key can lie there.
    [[nodiscard]] bool is_place_of(const TableKey& key, std::size_t position) const noexcept {
        return position < store_.keys.slots() && store_.keys.is_place_of(key, position);
    }
    // The entry of the key that another table of the same size has at that position; empty: none.
    [[nodiscard]] Entry same_key(std::size_t position, std::uint64_t slot_and_tag) const noexcept {
        return position < store_.keys.slots()
                   ? store_.keys.read_near(position, slot_and_tag)
                   : store_.parents.read_near(position - store_.keys.slots(), slot_and_tag);
    }
    // The entry of the key that another table, of any size, has at that position, filed here under
    // `slot`; empty: none, or the tables differ by so much that it is not looked for.
    [[nodiscard]] Entry alike(const TableReader& other, std::size_t position,
                              std::uint64_t slot_and_tag, LimitSlot slot) const noexcept {
        constexpr std::uint64_t kTag = (std::uint64_t{1} << kTagBits) - 1;
        const std::uint64_t wanted = std::uint64_t{slot} << kTagBits | (slot_and_tag & kTag);
        const std::size_t keys = other.store_.keys.slots();
        return position < keys
                   ? store_.keys.read_alike(other.store_.keys, position, slot_and_tag, wanted)
                   : store_.parents.read_alike(other.store_.parents, position - keys, slot_and_tag,
                                               wanted);
    }
    // Entries that this looks at, at most.
    [[nodiscard]] std::size_t reads_alike(const TableReader& other) const noexcept {
        constexpr std::size_t kOfALine = 4;
        return kOfALine * std::max(store_.keys.lines_alike(other.store_.keys),
                                   store_.parents.lines_alike(other.store_.parents));
    }
    // A name for the key at a position, wherever in its two lines it lies.
    [[nodiscard]] std::uint64_t digest(std::size_t position,
                                       std::uint64_t slot_and_tag) const noexcept {
        const std::uint64_t tag = slot_and_tag & ((std::uint64_t{1} << kTagBits) - 1);
        const std::size_t line =
            position < store_.keys.slots()
                ? store_.keys.lesser_line(position, slot_and_tag)
                : store_.parents.lesser_line(position - store_.keys.slots(), slot_and_tag);
        return line << kTagBits | tag;
    }

private:
    const BucketStore& store_;
};

}  // namespace sluice
