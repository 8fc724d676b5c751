#pragma once
#include "lib/base/bytes.hpp"
#include "lib/l7/http1/byte_blocks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// At most kMaxNames names, each found by its bytes in a step or two and a compare. Names with
// letters of either case are one name where the table ignores case.
class NameTable {
public:
    static constexpr std::size_t kMaxNames = 64;
    static constexpr std::uint8_t kNone = 0xFF;

    NameTable(std::vector<std::string> names, bool ignore_case);

    // False: no name begins with such a byte; most texts that are no name are refused by this.
    [[nodiscard]] bool may_begin_with(std::byte first) const noexcept {
        return (firsts_ >> letter_of(first) & 1) != 0;
    }
    // Likewise of a first byte and a size together.
    [[nodiscard]] bool may_have(std::byte first, std::size_t size) const noexcept {
        return (firsts_by_size_[size_class(size)] >> letter_of(first) & 1) != 0;
    }
    // The name's place among the names, the first if it is there twice; or kNone.
    [[nodiscard]] std::uint8_t find(const http1::ReadableText& name) const noexcept {
        return find(name.bytes(), name.load(0));
    }
    // Likewise; `block` has the first bytes of the name, and behind them any.
    [[nodiscard]] std::uint8_t find(ByteView name, http1::Block block) const noexcept {
        const http1::Block begin = begin_of(block, name.size());
        std::size_t slot = slot_of(begin, name.size());
        while (slots_[slot] != kNone && !is_entry(slots_[slot], begin, name)) {
            slot = (slot + 1) % kSlots;
        }
        return slots_[slot];
    }

    // Makes such a text one to may_have() too, whatever the names are.
    void admit(std::byte first, std::size_t size) noexcept {
        firsts_by_size_[size_class(size)] |= std::uint32_t{1} << letter_of(first);
    }

    [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
    [[nodiscard]] std::string_view name(std::size_t index) const noexcept { return names_[index]; }
    [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }

private:
    // The first 32 bytes, zeroes behind the end: of names that are not longer, all there is.
    struct Entry {
        alignas(http1::kBlock) std::array<std::byte, http1::kBlock> begin{};
        std::size_t size = 0;
    };

    // A bit for each first byte, the same one for a letter of either case.
    [[nodiscard]] static unsigned letter_of(std::byte first) noexcept {
        return std::to_integer<unsigned>(first) & 0x1FU;
    }
    [[nodiscard]] static std::size_t size_class(std::size_t size) noexcept {
        return std::min(size, kSizeClasses - 1);
    }
    [[nodiscard]] http1::Block begin_of(http1::Block block, std::size_t size) const noexcept {
        const http1::Block begin = http1::first_bytes(block, size);
        return ignore_case_ ? http1::lower_block(begin) : begin;
    }
    // By the size and the first eight bytes; names that share these stand in a row of slots.
    [[nodiscard]] static std::size_t slot_of(http1::Block begin, std::size_t size) noexcept {
        constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;
        const auto first =
            static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm256_castsi256_si128(begin)));
        return static_cast<std::size_t>((first + size) * kOdd >> (64 - kSlotBits));
    }
    [[nodiscard]] bool is_entry(std::uint8_t index, http1::Block begin,
                                ByteView name) const noexcept {
        const Entry& entry = entries_[index];
        const http1::Block differs = _mm256_xor_si256(
            begin, _mm256_load_si256(reinterpret_cast<const __m256i*>(entry.begin.data())));
        return entry.size == name.size() && _mm256_testz_si256(differs, differs) != 0 &&
               (name.size() <= http1::kBlock || is_rest_equal(name, index));
    }
    [[nodiscard]] bool is_rest_equal(ByteView name, std::uint8_t index) const noexcept;

    // Four slots a name at least, so that a search ends after one or two.
    static constexpr unsigned kSlotBits = 8;
    static constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;
    static_assert(kSlots >= 4 * kMaxNames);

    static constexpr std::size_t kSizeClasses = 32;  // the last one for all longer names

    bool ignore_case_;
    std::uint32_t firsts_ = 0;
    std::array<std::uint32_t, kSizeClasses> firsts_by_size_{};
    std::vector<std::string> names_;  // in lower case where case is ignored
    std::vector<Entry> entries_;      // by index
    std::array<std::uint8_t, kSlots> slots_;
};

}  // namespace sluice
