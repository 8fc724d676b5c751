#pragma once
#include "lib/base/lazy_array.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

// The taken ones of 2^22 slots, as four levels of words: the next taken one is found in a step for
// each level up and each level down, however far it lies.
//
//   level 3   1 word        a bit for each word of level 2
//   level 2   16 words      a bit for each word of level 1
//   level 1   1,024 words   a bit for each word of level 0
//   level 0   65,536 words  a bit for each slot
class SlotBitmap {
public:
    static constexpr unsigned kBits = 22;
    static constexpr std::uint32_t kSlots = std::uint32_t{1} << kBits;

    SlotBitmap() noexcept;

    void set(std::uint32_t slot) noexcept;
    void clear(std::uint32_t slot) noexcept;
    // The first taken slot at or behind `from`, from the beginning again if there is none up to the
    // end. One at least is taken.
    [[nodiscard]] std::uint32_t next(std::uint32_t from) const noexcept;

private:
    static constexpr unsigned kWordBits = 6;
    static constexpr unsigned kLevels = 4;
    using Word = std::uint64_t;

    // The first set bit of the level at or behind `from`; kSlots: there is none.
    [[nodiscard]] std::uint32_t first_at(unsigned level, std::uint32_t from) const noexcept;
    [[nodiscard]] std::uint32_t first_from(std::uint32_t from) const noexcept;

    LazyArray<Word> levels_[kLevels];
};

}  // namespace sluice
