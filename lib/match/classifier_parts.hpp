#pragma once
#include "lib/base/wide.hpp"
#include "lib/match/step.hpp"
#include "lib/match/text_parts.hpp"
#include "lib/packet/field.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

// The conditions of all rules, compiled: what crosses the wire, and what a Classifier is made from.
//
// Every condition is an `or` of clauses; a clause is a set of values for each of some fields, the
// dimensions. Clauses stand in blocks of 512. A dimension cuts the values of its field into ranges
// and leads from each range, and from `absent`, to a row: the clauses that are satisfied there.
// Rows that are equal are one row, blocks that are equal are one block.
namespace sluice {

inline constexpr std::size_t kBlockBits = 512;
inline constexpr unsigned kBlockWords = kBlockBits / 64;
inline constexpr std::size_t kMaxClauses = 65'536;
inline constexpr std::size_t kMaxBlocks = kMaxClauses / kBlockBits;
inline constexpr std::size_t kMaxSummary = kMaxBlocks / 64;

// One bit for each of 512 clauses.
struct alignas(64) Block {
    std::array<std::uint64_t, kBlockWords> words{};

    [[nodiscard]] constexpr bool operator==(const Block&) const noexcept = default;
};

inline constexpr Block kFullBlock = [] {
    Block block;
    block.words.fill(~std::uint64_t{0});
    return block;
}();

// One field. Rows are counted from 0; each is as many words of `open` as the clauses have words of
// summary, and as many references as these have bits within `used`.
struct DimensionParts {
    Field field{};
    std::uint32_t absent_row = 0;
    std::vector<Step<std::uint64_t>> steps;  // of numbers, or of IPv4 addresses
    std::vector<Step<Wide>> v6_steps;        // of IPv6 addresses; empty unless it has addresses
    std::vector<std::uint64_t> used;         // one bit per block with a clause over this field
    std::vector<std::uint64_t> open;         // by row: one bit per used block that is not all zero
    std::vector<std::uint32_t> references;   // by row: where those blocks stand in `blocks`
};

struct ClassifierParts {
    std::vector<std::uint32_t> always;   // rules that every packet satisfies, in order
    std::vector<std::uint32_t> rule_of;  // by clause
    std::vector<DimensionParts> dimensions;
    std::vector<Block> blocks;
    TextParts texts;
};

// Bounds on the tables that are built from the steps of a message. A list of a million prefixes of
// one version has two steps for each when no two are neighbours; two such lists fit for IPv4, one
// for IPv6, whose steps take 32 bytes.
inline constexpr std::size_t kMaxSteps = std::size_t{1} << 22;
inline constexpr std::size_t kMaxWideSteps = std::size_t{1} << 21;
inline constexpr std::size_t kMaxRows = std::size_t{1} << 18;
// Blocks of bits that differ; those that fields multiplied out add to them still have a number.
inline constexpr std::size_t kMaxDifferentBlocks = std::size_t{1} << 22;
// Numbers of no more bits go through a table with a place for each.
inline constexpr unsigned kMaxTableBits = 17;
inline constexpr std::size_t kMaxTableRows = std::size_t{1} << 16;

// Blocks of so many clauses, and words of one bit per block.
[[nodiscard]] constexpr std::size_t blocks_for(std::size_t clauses) noexcept {
    return (clauses + kBlockBits - 1) / kBlockBits;
}
[[nodiscard]] constexpr std::size_t summary_for(std::size_t clauses) noexcept {
    return (blocks_for(clauses) + 63) / 64;
}

// The bits of a block that stand for one of so many clauses: of the last block not all.
[[nodiscard]] constexpr Block clauses_of(std::size_t block, std::size_t clauses) noexcept {
    Block bits;
    for (std::size_t word = 0; word < bits.words.size(); ++word) {
        const std::size_t first = block * kBlockBits + word * 64;
        const std::size_t there_are = clauses < first ? 0 : clauses - first;
        bits.words[word] =
            there_are >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << there_are) - 1;
    }
    return bits;
}

// The width of the keys of a field that is no address.
[[nodiscard]] constexpr unsigned key_bits(Field field) noexcept {
    return static_cast<unsigned>(std::bit_width(row_of(field).max));
}

// True if every index lies inside its table and every order holds, for so many rules.
[[nodiscard]] bool are_sound(const ClassifierParts& parts, std::size_t rules);

}  // namespace sluice
