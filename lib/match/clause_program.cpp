#include "lib/match/clause_program.hpp"

#include "lib/match/address_key.hpp"

#include <algorithm>
#include <array>

namespace sluice {

// Evaluates the predicates of one burst, each when a clause first reads it.
class ClauseProgram::Run {
public:
    Run(const ClauseProgram& program, const HeaderColumns& columns, RowMask rows,
        const ClassifierParts& parts, std::span<const Dimension> dimensions) noexcept
        : program_{program},
          columns_{columns},
          rows_{rows},
          parts_{parts},
          dimensions_{dimensions} {}

    // The members of `rows` that satisfy the clause.
    [[nodiscard]] RowMask satisfied(const Clause& clause, RowMask rows) noexcept {
        const std::uint16_t* const terms = program_.terms_.data();
        for (std::uint32_t term = clause.first_term; term != clause.past_terms && rows != 0;
             ++term) {
            rows &= holds(terms[term]);
        }
        return rows;
    }

private:
    // Both halves of the IPv6 addresses of one end, as numbers.
    struct Halves {
        alignas(32) RowNumbers high;
        alignas(32) RowNumbers low;
    };

    [[nodiscard]] RowMask holds(std::size_t number) noexcept {
        std::uint64_t& known = known_[number / 64];
        const std::uint64_t bit = std::uint64_t{1} << (number % 64);
        if ((known & bit) == 0) {
            known |= bit;
            results_[number] = decide(program_.tests_[number]);
        }
        return results_[number];
    }
    [[nodiscard]] RowMask decide(const ColumnTest& test) noexcept {
        if (test.kind == ColumnTest::Kind::LookUp) {
            return look_up(test);  // which has a row for absence too
        }
        const RowMask present = columns_.present_rows(test.field);
        return (value_holds(test) & present) | (test.absent ? ~present : 0);
    }
    // In rows that have the field.
    [[nodiscard]] RowMask value_holds(const ColumnTest& test) noexcept;
    [[nodiscard]] RowMask gathered_holds(const ColumnTest& test) const noexcept;
    [[nodiscard]] RowMask address_holds(const ColumnTest& test) noexcept;
    [[nodiscard]] RowMask v6_holds(const ColumnTest& test, RowMask rows) noexcept;
    [[nodiscard]] RowMask outer_address_holds(const ColumnTest& test) const noexcept;
    [[nodiscard]] RowMask look_up(const ColumnTest& test) noexcept;
    [[nodiscard]] const Halves& halves(bool source) noexcept;

    template <typename T>
    [[nodiscard]] const T* column(const ColumnTest& test) const noexcept {
        return reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(&columns_) +
                                          test.column);
    }

    const ClauseProgram& program_;
    const HeaderColumns& columns_;
    RowMask rows_;
    const ClassifierParts& parts_;
    std::span<const Dimension> dimensions_;
    // Results that are known have been written; nothing else is read.
    std::array<std::uint64_t, kMaxTests / 64> known_{};
    std::uint64_t looked_up_ = 0;  // a bit for each dimension
    std::array<bool, 2> has_halves_{};
    std::array<RowMask, kMaxTests> results_;
    std::array<std::array<std::uint32_t, kMaxBurst>, kFieldCount> found_;  // by dimension
    std::array<Halves, 2> halves_;
};

RowMask ClauseProgram::Run::value_holds(const ColumnTest& test) noexcept {
    switch (test.kind) {
        case ColumnTest::Kind::Presence:
            return test.any_value ? ~RowMask{0} : 0;
        case ColumnTest::Kind::Column8:
            return rows_in(column<std::uint8_t>(test), test.ranges);
        case ColumnTest::Kind::Column16:
            return rows_in(column<std::uint16_t>(test), test.ranges);
        case ColumnTest::Kind::Column32:
            return rows_in(column<std::uint32_t>(test), test.ranges);
        case ColumnTest::Kind::Column64:
            return rows_in(column<std::uint64_t>(test), test.ranges);
        case ColumnTest::Kind::FlagBit: {
            const RowMask set = rows_with_bits(columns_.tcp_flags.data(), tcp_flag(test.field));
            return test.flag_set ? set : ~set;
        }
        case ColumnTest::Kind::Address:
            return address_holds(test);
        case ColumnTest::Kind::OuterAddress:
            return outer_address_holds(test);
        default:
            return gathered_holds(test);
    }
}

RowMask ClauseProgram::Run::gathered_holds(const ColumnTest& test) const noexcept {
    alignas(32) RowNumbers numbers{};
    return columns_.gather(test.field, rows_, numbers) & rows_in(numbers.data(), test.ranges);
}

RowMask ClauseProgram::Run::address_holds(const ColumnTest& test) noexcept {
    const RowMask v6 = columns_.v6 & rows_;
    const RowMask v4 = rows_in(column<std::uint32_t>(test), test.ranges) & ~columns_.v6;
    return v6 == 0 || test.v6_ranges.empty() ? v4 : v4 | v6_holds(test, v6);
}

const ClauseProgram::Run::Halves& ClauseProgram::Run::halves(bool source) noexcept {
    Halves& halves = halves_[source ? 1 : 0];
    if (!has_halves_[source ? 1 : 0]) {
        has_halves_[source ? 1 : 0] = true;
        const auto& addresses = source ? columns_.src6 : columns_.dst6;
        for (std::size_t row = 0; row < kMaxBurst; ++row) {
            halves.high[row] = load_be<std::uint64_t>(addresses[row].bytes.data());
            halves.low[row] = load_be<std::uint64_t>(addresses[row].bytes.data() + 8);
        }
    }
    return halves;
}

// Networks no longer than /64 are compared by their first halves; others row by row.
RowMask ClauseProgram::Run::v6_holds(const ColumnTest& test, RowMask rows) noexcept {
    const Halves& keys = halves(test.field != Field::IpDst);
    if (test.only_networks) {
        return rows_in(keys.high.data(), test.v6_high_ranges) & rows;
    }
    RowMask inside = 0;
    for_each_row(rows, [&](std::size_t row) {
        const Wide key = (Wide{keys.high[row]} << 64) | keys.low[row];
        for (const V6Range& range : test.v6_ranges) {
            inside |= (key >= range.first && key <= range.last ? RowMask{1} : 0) << row;
        }
    });
    return inside;
}

RowMask ClauseProgram::Run::outer_address_holds(const ColumnTest& test) const noexcept {
    RowMask inside = 0;
    for_each_row(rows_ & columns_.present_rows(test.field), [&](std::size_t row) {
        const VersionedAddress address = columns_.address(test.field, row);
        const bool is_inside =
            address.version == IpVersion::V4
                ? std::ranges::any_of(test.ranges,
                                      [key = v4_key(address.address)](const ColumnRange& range) {
                                          return key - range.first <= range.span;
                                      })
                : std::ranges::any_of(test.v6_ranges,
                                      [key = v6_key(address.address)](const V6Range& range) {
                                          return key >= range.first && key <= range.last;
                                      });
        inside |= is_inside ? row_bit(row) : 0;
    });
    return inside;
}

RowMask ClauseProgram::Run::look_up(const ColumnTest& test) noexcept {
    std::array<std::uint32_t, kMaxBurst>& found = found_[test.dimension];
    const std::uint64_t bit = std::uint64_t{1} << test.dimension;
    if ((looked_up_ & bit) == 0) {
        looked_up_ |= bit;
        dimensions_[test.dimension].find_rows<Dimension::To::Set>(
            columns_, rows_, parts_.dimensions[test.dimension], found.data());
    }
    const std::uint8_t* const holds = test.row_holds.data();
    RowMask rows = 0;
    for (std::size_t row = 0; row < kMaxBurst; ++row) {
        rows |= RowMask{holds[found[row]]} << row;
    }
    return rows;
}

void ClauseProgram::match(const HeaderColumns& columns, RowMask rows, const ClassifierParts& parts,
                          std::span<const Dimension> dimensions,
                          RuleMatches& matches) const noexcept {
    Run run{*this, columns, rows, parts, dimensions};
    for (const RuleClauses& rule : rules_) {
        RowMask matched = rule.always ? rows : 0;
        for (std::uint32_t i = rule.first; i != rule.first_with_text; ++i) {
            matched |= run.satisfied(clauses_[i], rows & ~matched);
        }
        matches.add_matched(rule.rule, matched);
        RowMask pending = 0;
        for (std::uint32_t i = rule.first_with_text; i != rule.past; ++i) {
            const RowMask open = run.satisfied(clauses_[i], rows & ~matched);
            matches.add_pending_clause(clauses_[i].number, open);
            pending |= open;
        }
        matches.add_pending(rule.rule, pending);
    }
}

void ClauseProgram::list_candidates(RowMask rows, RuleMatches& matches) noexcept {
    std::array<std::array<Block, kMaxProgramClauses / kBlockBits>, kMaxBurst> clauses{};
    for (const RuleMatches::PendingClause& pending : matches.pending_clauses()) {
        const std::uint64_t bit = std::uint64_t{1} << (pending.number % 64);
        for_each_row(pending.rows & rows, [&](std::size_t row) {
            clauses[row][pending.number / kBlockBits].words[pending.number % kBlockBits / 64] |=
                bit;
        });
    }
    matches.candidates_.clear();
    for_each_row(rows, [&](std::size_t row) {
        for (std::size_t block = 0; block < clauses[row].size(); ++block) {
            if (clauses[row][block] != Block{}) {
                matches.candidates_.add(block, row, clauses[row][block]);
            }
        }
    });
}

}  // namespace sluice
