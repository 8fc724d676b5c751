#pragma once
#include "lib/match/clause_program.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice {

// Reads the clauses back from the rows of the dimensions and writes them as a ClauseProgram.
class ClauseProgramBuilder {
public:
    ClauseProgramBuilder(const ClassifierParts& parts, std::span<const Dimension> dimensions)
        : parts_{parts}, dimensions_{dimensions}, terms_of_(parts.rule_of.size()) {}

    // False: the clauses are too many, or too many different ones.
    [[nodiscard]] bool build();
    [[nodiscard]] ClauseProgram take() { return std::move(program_); }

    // CPU cycles for a burst, estimated: of the program, of the index over the same parts.
    [[nodiscard]] std::uint64_t program_cost() const;
    [[nodiscard]] std::uint64_t index_cost() const;

private:
    // The rows of one dimension in which a clause's test holds, one bit each.
    using RowSet = std::vector<std::uint64_t>;
    // By block of clauses: the bits of one row; nullptr: none.
    using RowBlocks = std::array<const Block*, ClauseProgram::kMaxProgramClauses / kBlockBits>;

    [[nodiscard]] bool add_dimension(std::uint32_t number);
    [[nodiscard]] std::vector<RowBlocks> rows_of(const DimensionParts& dimension) const;
    [[nodiscard]] ColumnTest make_test(std::uint32_t number, const RowSet& rows) const;
    void make_ranges(const DimensionParts& dimension, const RowSet& rows, ColumnTest& test) const;
    void make_look_up(std::uint32_t number, const RowSet& rows, ColumnTest& test) const;
    void write_clauses();

    const ClassifierParts& parts_;
    std::span<const Dimension> dimensions_;
    std::vector<std::vector<std::uint16_t>> terms_of_;  // by clause
    ClauseProgram program_;
};

}  // namespace sluice
