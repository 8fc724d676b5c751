#include "lib/respond/shape/slot_bitmap.hpp"

#include <bit>

namespace sluice {

SlotBitmap::SlotBitmap() noexcept {
    std::size_t bits = kSlots;
    for (LazyArray<Word>& level : levels_) {
        bits = (bits + 63) >> kWordBits;
        level = zeroed_array<Word>(bits);
    }
}

void SlotBitmap::set(std::uint32_t slot) noexcept {
    for (LazyArray<Word>& level : levels_) {
        Word& word = level[slot >> kWordBits];
        const bool was_empty = word == 0;
        word |= Word{1} << (slot & 63U);
        if (!was_empty) {
            return;
        }
        slot >>= kWordBits;
    }
}

void SlotBitmap::clear(std::uint32_t slot) noexcept {
    for (LazyArray<Word>& level : levels_) {
        Word& word = level[slot >> kWordBits];
        word &= ~(Word{1} << (slot & 63U));
        if (word != 0) {
            return;
        }
        slot >>= kWordBits;
    }
}

std::uint32_t SlotBitmap::first_at(unsigned level, std::uint32_t from) const noexcept {
    const std::uint32_t bits = kSlots >> (kWordBits * level);
    if (from >= bits) {
        return kSlots;
    }
    const Word word = levels_[level][from >> kWordBits] & (~Word{0} << (from & 63U));
    return word == 0
               ? kSlots
               : (from & ~std::uint32_t{63}) + static_cast<std::uint32_t>(std::countr_zero(word));
}

// Up to the first level whose word still has a bit behind, then down along the first ones.
std::uint32_t SlotBitmap::first_from(std::uint32_t from) const noexcept {
    for (unsigned level = 0; level < kLevels; ++level) {
        std::uint32_t found = first_at(level, from);
        if (found != kSlots) {
            for (; level != 0; --level) {
                found = first_at(level - 1, found << kWordBits);
            }
            return found;
        }
        from = (from >> kWordBits) + 1;
    }
    return kSlots;
}

std::uint32_t SlotBitmap::next(std::uint32_t from) const noexcept {
    const std::uint32_t behind = first_from(from);
    return behind != kSlots ? behind : first_from(0);
}

}  // namespace sluice
