#pragma once
#include "lib/packet/text_field.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// The conditions of all rules over texts, compiled: a part of ClassifierParts.
//
//   a packet's text --> entries that hold --> tests that hold --> clauses
//
// An entry is one text or pattern; a test holds when one of its entries does (`in {"a" "b"}` is one
// test of two entries), a clause when all of its tests do, and none of its negated ones. Entries
// that compare the beginning, the end or the whole are looked up in sorted tables, ranges of
// numbers gone through one by one; those that may lie anywhere are patterns of one Hyperscan
// database per field, or two.
namespace sluice {

// Within: of a field of numbers, a range of them, `first-last`.
enum class TextHow : std::uint8_t { Equals, StartsWith, EndsWith, Contains, Matches, Within };
inline constexpr std::size_t kTextHowCount = 6;
[[nodiscard]] constexpr bool is_scanned(TextHow how) noexcept {
    return how == TextHow::Contains || how == TextHow::Matches;
}

inline constexpr std::size_t kMaxEntrySize = 4096;  // bytes of a text; as long as a list's
inline constexpr std::size_t kMaxPatternSize = 1024;
inline constexpr std::size_t kMaxPatterns = 16'384;  // of all fields together
inline constexpr std::size_t kMaxTextEntries = std::size_t{1} << 20;
inline constexpr std::size_t kMaxTextBytes = std::size_t{16} << 20;  // of all entries together
inline constexpr std::size_t kMaxTextTests = 65'536;
inline constexpr std::size_t kMaxNumberRanges = 1024;  // of all fields together
inline constexpr std::size_t kMaxTextTerms = std::size_t{1} << 19;
inline constexpr std::size_t kMaxDatabases = 2 * kTextFieldCount;
inline constexpr std::size_t kMaxDatabaseSize = std::size_t{32} << 20;  // all together

struct TextEntry {
    TextField field{};
    TextHow how{};
    bool ignore_case = false;  // of the letters A to Z, on both sides
    std::string text;          // bytes; of Matches: a regular expression

    [[nodiscard]] auto operator<=>(const TextEntry&) const noexcept = default;
};

// A test without entries is that of the field's presence.
struct TextTestParts {
    TextField field{};
    std::vector<std::uint32_t> entries;  // ascending
};

// One test of one clause.
struct TextTermParts {
    std::uint32_t clause = 0;
    std::uint32_t test = 0;
    bool negated = false;
};

// Several patterns of one field, as Hyperscan writes them.
struct TextDatabaseParts {
    static constexpr std::uint32_t kNoEntry = 0xFFFF'FFFF;

    TextField field{};
    std::vector<std::uint32_t> entries;  // by the number of a pattern; kNoEntry: unused
    std::uint64_t checksum = 0;          // of `bytes`; Hyperscan's own leaves some out
    std::vector<std::byte> bytes;
};

struct TextParts {
    std::vector<TextEntry> entries;            // ascending
    std::vector<TextTestParts> tests;          // those of no entries come first, by field
    std::vector<TextTermParts> terms;          // by clause, then by test
    std::vector<TextDatabaseParts> databases;  // by field
};

[[nodiscard]] std::uint64_t checksum_of(ByteView bytes) noexcept;

// True if every index lies inside its table and every order and bound holds, for so many clauses.
// It does not look into the databases.
[[nodiscard]] bool are_sound(const TextParts& parts, std::size_t clauses);

}  // namespace sluice
