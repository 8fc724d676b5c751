#pragma once
#include "lib/base/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// At most kMaxNames names, each found by its bytes in one or two steps and a compare. Names with
// letters of either case are one name where the table ignores case.
class NameTable {
public:
    static constexpr std::size_t kMaxNames = 64;
    static constexpr std::uint8_t kNone = 0xFF;

    NameTable(std::vector<std::string> names, bool ignore_case);

    // Its place among the names, the first if it is there twice; or kNone.
    [[nodiscard]] std::uint8_t find(ByteView name) const noexcept;

    [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
    [[nodiscard]] std::string_view name(std::size_t index) const noexcept { return names_[index]; }

private:
    // The first and the last eight bytes, one over the other in shorter names: two names of one
    // size and up to 16 bytes are the same if their words are.
    struct Words {
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        [[nodiscard]] bool operator==(const Words&) const noexcept = default;
    };
    struct Entry {
        Words words;
        std::uint32_t size = 0;
    };

    [[nodiscard]] Words words_of(ByteView name) const noexcept;
    [[nodiscard]] std::size_t slot_of(const Words& words, std::size_t size) const noexcept;
    [[nodiscard]] bool is_middle_equal(ByteView name, std::uint8_t index) const noexcept;

    // Four slots a name at least, so that a search ends after one or two.
    static constexpr unsigned kSlotBits = 8;
    static constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;
    static_assert(kSlots >= 4 * kMaxNames);

    bool ignore_case_;
    std::vector<std::string> names_;  // in lower case where case is ignored
    std::vector<Entry> entries_;      // by index
    std::vector<std::uint8_t> slots_;
};

}  // namespace sluice
