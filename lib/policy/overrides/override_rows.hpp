#pragma once
#include "lib/policy/keys/key_range.hpp"
#include "lib/rules/overrides.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sluice {

// The origin of an override: which text, and its line there.
enum class OverrideSource : std::uint8_t { RuleFile, CsvFile, RunTime };
struct OverridePlace {
    OverrideSource source{};
    std::uint32_t line = 0;
    std::uint32_t column = 1;
};

// The order of keys by their canonical bytes: below zero when `a` comes first.
[[nodiscard]] int compare_keys(ByteView a, ByteView b) noexcept;

// Overrides of single keys of a rule, read but not put together yet.
struct OverrideRows {
    // Numbers of one limit, or that the key is exempt or banned. Many rows may share one.
    struct Piece {
        bool exempt = false;
        bool banned = false;
        LimitOverride numbers;  // of the others only `until`

        [[nodiscard]] bool has_numbers() const noexcept { return !exempt && !banned; }
    };
    struct Row {
        std::uint32_t begin = 0;  // of its key in `bytes`
        std::uint32_t end = 0;
        std::uint32_t piece = 0;
        OverridePlace place;
        std::uint8_t key = 0;      // of the rule's
        std::uint32_t reason = 0;  // in `reasons`, from 1 on; 0: none
    };
    // Keys between two addresses; its row has no bytes.
    struct RangeRow {
        KeyRange range;
        Row row;
    };

    [[nodiscard]] ByteView bytes_of(const Row& row) const noexcept {
        return ByteView{bytes}.subspan(row.begin, row.end - row.begin);
    }
    // By key and its bytes; of the same key by source, and in the order of its text. Ranges as
    // Overrides has them.
    void sort();
    [[nodiscard]] std::size_t size() const noexcept { return rows.size() + ranges.size(); }

    std::vector<std::byte> bytes;  // of the keys, one after the other
    std::vector<Row> rows;
    std::vector<RangeRow> ranges;
    std::size_t sorted = 0;  // so many of them are, from the first on
    std::vector<Piece> pieces;
    std::vector<std::uint64_t> piece_sums;
    std::vector<std::shared_ptr<const std::string>> reasons;  // many rows may share one
};

}  // namespace sluice
