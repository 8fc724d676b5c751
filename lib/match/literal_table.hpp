#pragma once
#include "lib/match/text_parts.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice {

// Texts that are compared with the beginning, the end or the whole of another, sorted. Of those
// that begin a given text, the longest is found by halving, and the others are its own beginnings:
// each row knows the next shorter one. Ends are beginnings read backwards. Most rows are told apart
// by their first eight bytes, as numbers.
//
//     a  <--  abc  <--  abcde          the text abcd: abcde is cut down to abc, then a
class LiteralTable {
public:
    // Takes the entries that are of this kind.
    LiteralTable(std::span<const TextEntry> entries, TextField field, TextHow how,
                 bool ignore_case);

    // Calls hit(entry) for each entry that holds of the text.
    template <typename Hit>
    void find(ByteView text, Hit&& hit) const noexcept {
        std::size_t common = 0;
        std::uint32_t row = last_not_above(text, common);
        for (; row != kNone; row = rows_[row].shorter) {
            if (rows_[row].size <= common && (how_ != TextHow::Equals || is_whole(row, text))) {
                hit(rows_[row].entry);
            }
        }
    }

    [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
    [[nodiscard]] std::size_t bytes() const noexcept {
        return bytes_.size() + rows_.size() * (sizeof(rows_.front()) + sizeof(heads_.front()));
    }

private:
    static constexpr std::uint32_t kNone = 0xFFFF'FFFF;
    struct Row {
        std::uint32_t at = 0;    // of its first byte in bytes_
        std::uint32_t size = 0;  // in bytes
        std::uint32_t entry = 0;
        std::uint32_t shorter = kNone;  // the longest row that is a beginning of this one
    };

    [[nodiscard]] bool is_whole(std::uint32_t row, ByteView text) const noexcept {
        return rows_[row].size == text.size();
    }
    [[nodiscard]] std::uint8_t byte_of(ByteView text, std::size_t at) const noexcept;
    // The first bytes of a text, the first one highest; zeroes behind its end.
    [[nodiscard]] std::uint64_t head_of(ByteView text) const noexcept;
    // How many bytes a row and the text have in common.
    [[nodiscard]] std::size_t common_with(std::uint32_t row, ByteView text) const noexcept;
    // The last row that is not above the text, and how many bytes they have in common.
    [[nodiscard]] std::uint32_t last_not_above(ByteView text, std::size_t& common) const noexcept;

    TextHow how_;
    bool ignore_case_;
    std::vector<std::uint8_t> bytes_;   // of the rows, as they are compared
    std::vector<Row> rows_;             // ascending
    std::vector<std::uint64_t> heads_;  // by row
};

}  // namespace sluice
