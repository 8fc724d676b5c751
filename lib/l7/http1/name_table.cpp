#include "lib/l7/http1/name_table.hpp"

#include "lib/base/check.hpp"
#include "lib/l7/http1/byte_classes.hpp"

#include <bit>
#include <cstring>
#include <utility>

namespace sluice::http1 {

namespace {

// The letters among eight bytes in lower case.
std::uint64_t lower_word(std::uint64_t word) noexcept {
    constexpr std::uint64_t kEach = 0x0101'0101'0101'0101;
    const std::uint64_t seven = word & (kEach * 0x7F);
    const std::uint64_t from_a = seven + kEach * (0x80 - 'A');
    const std::uint64_t beyond_z = seven + kEach * (0x7F - 'Z');
    const std::uint64_t upper = (from_a ^ beyond_z) & ~word & (kEach * 0x80);
    return word | (upper >> 2);
}

template <typename Word>
std::uint64_t load_word(const std::byte* from) noexcept {
    Word word;
    std::memcpy(&word, from, sizeof(word));
    return word;
}

}  // namespace

}  // namespace sluice::http1

namespace sluice {

NameTable::NameTable(std::vector<std::string> names, bool ignore_case)
    : ignore_case_{ignore_case}, names_{std::move(names)}, slots_(kSlots, kNone) {
    SLUICE_CHECK(names_.size() <= kMaxNames);
    for (std::string& name : names_) {
        for (char& letter : name) {
            letter = ignore_case
                         ? static_cast<char>(http1::to_lower(static_cast<std::byte>(letter)))
                         : letter;
        }
        const Words words = words_of(bytes_of(name));
        if (find(bytes_of(name)) == kNone) {
            std::size_t slot = slot_of(words, name.size());
            while (slots_[slot] != kNone) {
                slot = (slot + 1) % kSlots;
            }
            slots_[slot] = static_cast<std::uint8_t>(entries_.size());
        }
        entries_.push_back({words, static_cast<std::uint32_t>(name.size())});
    }
}

std::uint8_t NameTable::find(ByteView name) const noexcept {
    const Words words = words_of(name);
    for (std::size_t slot = slot_of(words, name.size()); slots_[slot] != kNone;
         slot = (slot + 1) % kSlots) {
        const Entry& entry = entries_[slots_[slot]];
        if (entry.words == words && entry.size == name.size() &&
            is_middle_equal(name, slots_[slot])) {
            return slots_[slot];
        }
    }
    return kNone;
}

NameTable::Words NameTable::words_of(ByteView name) const noexcept {
    const std::size_t size = name.size();
    const std::byte* const at = name.data();
    Words words;
    if (size >= 8) {
        words = {http1::load_word<std::uint64_t>(at),
                 http1::load_word<std::uint64_t>(at + size - 8)};
    } else if (size >= 4) {
        words = {http1::load_word<std::uint32_t>(at),
                 http1::load_word<std::uint32_t>(at + size - 4)};
    } else if (size >= 2) {
        words = {http1::load_word<std::uint16_t>(at),
                 http1::load_word<std::uint16_t>(at + size - 2)};
    } else if (size == 1) {
        words.first = http1::load_word<std::uint8_t>(at);
    }
    return ignore_case_ ? Words{http1::lower_word(words.first), http1::lower_word(words.last)}
                        : words;
}

std::size_t NameTable::slot_of(const Words& words, std::size_t size) const noexcept {
    constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;
    const std::uint64_t mixed = (words.first ^ std::rotl(words.last, 29) ^ size) * kOdd;
    return static_cast<std::size_t>(mixed >> (64 - kSlotBits));
}

bool NameTable::is_middle_equal(ByteView name, std::uint8_t index) const noexcept {
    const ByteView own = bytes_of(names_[index]);
    for (std::size_t at = 8; at + 8 < name.size(); ++at) {
        if ((ignore_case_ ? http1::to_lower(name[at]) : name[at]) != own[at]) {
            return false;
        }
    }
    return true;
}

}  // namespace sluice
