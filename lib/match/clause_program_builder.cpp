#include "lib/match/clause_program_builder.hpp"

#include "lib/packet/field_column.hpp"

#include <algorithm>
#include <map>

namespace sluice {
namespace {

// A test of more ranges, or of a field that is cut into more steps, is looked up.
constexpr std::size_t kMaxRanges = 16;
constexpr std::size_t kMaxScannedSteps = 1024;
// Rows times clauses that are read back.
constexpr std::size_t kMaxReadBits = std::size_t{1} << 24;

// Estimates, in cycles for a burst of 32: they decide between two ways that both are right.
namespace cycles {
constexpr std::uint32_t kDecide = 10;  // one test of any kind
constexpr std::uint32_t kRange8 = 3;   // one range of a column of 8 bits
constexpr std::uint32_t kRange16 = 6;
constexpr std::uint32_t kRange32 = 14;
constexpr std::uint32_t kRange64 = 40;
constexpr std::uint32_t kGather = 60;
constexpr std::uint32_t kReadRows = 60;  // a test whose field has been looked up
constexpr std::uint32_t kRule = 4;
constexpr std::uint32_t kClause = 5;
constexpr std::uint32_t kTerm = 3;
constexpr std::uint32_t kLookUpNumber = 200;  // a field of all packets, in its table
constexpr std::uint32_t kLookUpAddress = 450;
constexpr std::uint32_t kLookUpLarge = 1300;  // where the table is no longer in a cache
constexpr std::uint32_t kIndexBurst = 1600;   // AND, words that are not zero, rules
constexpr std::uint32_t kIndexBlock = 150;    // for each block of each dimension
}  // namespace cycles

bool has_bit(const std::vector<std::uint64_t>& bits, std::size_t number) {
    return (bits[number / 64] >> (number % 64) & 1) != 0;
}

bool has_all_bits(const std::vector<std::uint64_t>& bits, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        if (!has_bit(bits, i)) {
            return false;
        }
    }
    return true;
}

struct ColumnPlace {
    ColumnTest::Kind kind{};
    std::uint16_t offset = 0;
    std::uint64_t largest = 0;  // that the column can hold
};

// The place of a field's values in HeaderColumns, for a vector compare.
ColumnPlace place_in_columns(Field field) {
    static const HeaderColumns columns;
    ColumnPlace place{ColumnTest::Kind::Gathered, 0, UINT64_MAX};
    const auto note = [&](const auto& column) {
        const auto offset = reinterpret_cast<const std::byte*>(column.data()) -
                            reinterpret_cast<const std::byte*>(&columns);
        constexpr std::size_t kSize = sizeof(column[0]);
        place = {kSize == 1   ? ColumnTest::Kind::Column8
                 : kSize == 2 ? ColumnTest::Kind::Column16
                 : kSize == 4 ? ColumnTest::Kind::Column32
                              : ColumnTest::Kind::Column64,
                 static_cast<std::uint16_t>(offset), UINT64_MAX >> (64 - 8 * kSize)};
    };
    if (row_of(field).kind == FieldKind::Address) {
        const bool inner = part_of(field) == HeaderPart::Ip;
        note(field == Field::IpDst ? columns.dst_host : columns.src_host);
        place.kind = inner ? ColumnTest::Kind::Address : ColumnTest::Kind::OuterAddress;
    } else if (tcp_flag(field) != 0) {
        place = {ColumnTest::Kind::FlagBit, 0, 1};
    } else {
        (void)use_column(field, columns, note);
    }
    return place;
}

// Calls add(first, last) for each range of keys whose rows are in the set, none next to another.
template <typename Key, typename Add>
void each_range(const std::vector<Step<Key>>& steps, const std::vector<std::uint64_t>& rows,
                Key largest, Add&& add) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (!has_bit(rows, steps[i].row)) {
            continue;
        }
        const Key first = steps[i].first;
        while (i + 1 < steps.size() && has_bit(rows, steps[i + 1].row)) {
            ++i;
        }
        add(first, i + 1 < steps.size() ? steps[i + 1].first - 1 : largest);
    }
}

std::uint32_t look_up_cost(const DimensionParts& dimension) {
    if (row_of(dimension.field).kind != FieldKind::Address) {
        return cycles::kLookUpNumber;
    }
    return dimension.steps.size() + dimension.v6_steps.size() > 8 * kMaxScannedSteps
               ? cycles::kLookUpLarge
               : cycles::kLookUpAddress;
}

std::uint32_t cost_of(const ColumnTest& test) {
    const auto ranges = static_cast<std::uint32_t>(test.ranges.size());
    const auto v6_ranges = static_cast<std::uint32_t>(test.v6_ranges.size());
    switch (test.kind) {
        case ColumnTest::Kind::Column8:
            return cycles::kDecide + ranges * cycles::kRange8;
        case ColumnTest::Kind::Column16:
            return cycles::kDecide + ranges * cycles::kRange16;
        case ColumnTest::Kind::Column32:
            return cycles::kDecide + ranges * cycles::kRange32;
        case ColumnTest::Kind::Column64:
            return cycles::kDecide + ranges * cycles::kRange64;
        case ColumnTest::Kind::Gathered:
            return cycles::kDecide + cycles::kGather + ranges * cycles::kRange64;
        case ColumnTest::Kind::Address:
        case ColumnTest::Kind::OuterAddress:
            // Half of the traffic at most is taken to be IPv6.
            return cycles::kDecide + ranges * cycles::kRange32 + v6_ranges * cycles::kRange64 / 2;
        case ColumnTest::Kind::LookUp:
            return cycles::kReadRows;
        default:
            return cycles::kDecide;
    }
}

}  // namespace

bool ClauseProgramBuilder::build() {
    if (parts_.rule_of.size() > ClauseProgram::kMaxProgramClauses) {
        return false;
    }
    for (std::uint32_t number = 0; number < parts_.dimensions.size(); ++number) {
        if (!add_dimension(number)) {
            return false;
        }
    }
    write_clauses();
    program_.ready_ = true;
    return true;
}

std::vector<ClauseProgramBuilder::RowBlocks> ClauseProgramBuilder::rows_of(
    const DimensionParts& dimension) const {
    std::vector<RowBlocks> rows(dimension.open.size());
    const std::uint32_t* reference = dimension.references.data();
    for (std::size_t row = 0; row < rows.size(); ++row) {
        for (std::size_t block = 0; block < rows[row].size(); ++block) {
            const bool asked = (dimension.used[0] >> block & 1) != 0;
            const bool open = (dimension.open[row] >> block & 1) != 0;
            rows[row][block] = !asked ? &kFullBlock : open ? &parts_.blocks[*reference++] : nullptr;
        }
    }
    return rows;
}

// Clauses whose rows are alike share a test; a clause that has all of them needs no test here.
bool ClauseProgramBuilder::add_dimension(std::uint32_t number) {
    const DimensionParts& dimension = parts_.dimensions[number];
    const std::size_t clauses = parts_.rule_of.size();
    const std::size_t row_count = dimension.open.size();
    if (row_count * clauses > kMaxReadBits) {
        return false;
    }
    const std::vector<RowBlocks> rows = rows_of(dimension);
    std::map<RowSet, std::uint16_t> test_of;
    for (std::size_t clause = 0; clause < clauses; ++clause) {
        RowSet holds((row_count + 63) / 64);
        for (std::size_t row = 0; row < row_count; ++row) {
            const Block* const block = rows[row][clause / kBlockBits];
            const std::uint64_t bit =
                block == nullptr ? 0 : block->words[clause % kBlockBits / 64] >> (clause % 64) & 1;
            holds[row / 64] |= bit << (row % 64);
        }
        if (has_all_bits(holds, row_count)) {
            continue;
        }
        const auto [place, is_new] =
            test_of.emplace(holds, static_cast<std::uint16_t>(program_.tests_.size()));
        if (is_new) {
            if (program_.tests_.size() == ClauseProgram::kMaxTests) {
                return false;
            }
            program_.tests_.push_back(make_test(number, holds));
        }
        terms_of_[clause].push_back(place->second);
    }
    return true;
}

ColumnTest ClauseProgramBuilder::make_test(std::uint32_t number, const RowSet& rows) const {
    const DimensionParts& dimension = parts_.dimensions[number];
    ColumnTest test{.field = dimension.field, .absent = has_bit(rows, dimension.absent_row)};
    if (dimension.steps.size() + dimension.v6_steps.size() > kMaxScannedSteps) {
        make_look_up(number, rows, test);
    } else {
        make_ranges(dimension, rows, test);
        if (test.ranges.size() > kMaxRanges || test.v6_ranges.size() > kMaxRanges) {
            make_look_up(number, rows, test);
        }
    }
    test.cost = cost_of(test);
    return test;
}

void ClauseProgramBuilder::make_ranges(const DimensionParts& dimension, const RowSet& rows,
                                       ColumnTest& test) const {
    const ColumnPlace place = place_in_columns(dimension.field);
    const bool is_address = row_of(dimension.field).kind == FieldKind::Address;
    test.kind = place.kind;
    test.column = place.offset;
    // The steps of a field may end below what its column can hold.
    const std::uint64_t largest = std::max(place.largest, dimension.steps.back().first);
    each_range<std::uint64_t>(dimension.steps, rows, largest,
                              [&](std::uint64_t first, std::uint64_t last) {
                                  test.ranges.push_back({first, last - first});
                              });
    each_range<Wide>(dimension.v6_steps, rows, ~Wide{0},
                     [&](Wide first, Wide last) { test.v6_ranges.push_back({first, last}); });
    test.only_networks = std::ranges::all_of(test.v6_ranges, [](const V6Range& range) {
        return static_cast<std::uint64_t>(range.first) == 0 &&
               static_cast<std::uint64_t>(range.last) == UINT64_MAX;
    });
    for (const V6Range& range : test.v6_ranges) {
        const auto first = static_cast<std::uint64_t>(range.first >> 64);
        test.v6_high_ranges.push_back(
            {first, static_cast<std::uint64_t>(range.last >> 64) - first});
    }
    const ColumnRange all{0, largest};
    const bool all_numbers = test.ranges == std::vector{all};
    const bool all_v6 = !is_address || test.v6_ranges == std::vector{V6Range{0, ~Wide{0}}};
    const bool none = test.ranges.empty() && test.v6_ranges.empty();
    if (none || (all_numbers && all_v6)) {
        test.kind = ColumnTest::Kind::Presence;
        test.any_value = !none;
    } else if (test.kind == ColumnTest::Kind::FlagBit) {
        test.flag_set = test.ranges.front().first == 1;
    }
}

void ClauseProgramBuilder::make_look_up(std::uint32_t number, const RowSet& rows,
                                        ColumnTest& test) const {
    const std::size_t stride = dimensions_[number].stride();
    const std::size_t row_count = parts_.dimensions[number].open.size();
    test.kind = ColumnTest::Kind::LookUp;
    test.dimension = number;
    test.ranges.clear();
    test.v6_ranges.clear();
    test.v6_high_ranges.clear();
    test.row_holds.resize((row_count - 1) * stride + 1);
    for (std::size_t row = 0; row < row_count; ++row) {
        test.row_holds[row * stride] = has_bit(rows, row) ? 1 : 0;
    }
}

void ClauseProgramBuilder::write_clauses() {
    const std::size_t clauses = parts_.rule_of.size();
    std::vector<bool> has_text(clauses);
    for (const TextTermParts& term : parts_.texts.terms) {
        has_text[term.clause] = true;
    }
    struct OfRule {
        bool always = false;
        std::vector<std::uint32_t> by_headers;
        std::vector<std::uint32_t> with_text;
    };
    std::map<std::uint32_t, OfRule> rules;
    for (const std::uint32_t rule : parts_.always) {
        rules[rule].always = true;
    }
    for (std::uint32_t clause = 0; clause < clauses; ++clause) {
        OfRule& rule = rules[parts_.rule_of[clause]];
        (has_text[clause] ? rule.with_text : rule.by_headers).push_back(clause);
    }
    const auto write = [&](const std::vector<std::uint32_t>& numbers) {
        for (const std::uint32_t number : numbers) {
            std::vector<std::uint16_t>& terms = terms_of_[number];
            std::stable_sort(terms.begin(), terms.end(), [&](std::uint16_t a, std::uint16_t b) {
                return program_.tests_[a].cost < program_.tests_[b].cost;
            });
            const auto first = static_cast<std::uint32_t>(program_.terms_.size());
            program_.terms_.insert(program_.terms_.end(), terms.begin(), terms.end());
            program_.clauses_.push_back(
                {number, first, static_cast<std::uint32_t>(program_.terms_.size())});
        }
        return static_cast<std::uint32_t>(program_.clauses_.size());
    };
    for (const auto& [rule, of_rule] : rules) {
        const auto first = static_cast<std::uint32_t>(program_.clauses_.size());
        const std::uint32_t first_with_text = write(of_rule.by_headers);
        const std::uint32_t past = write(of_rule.with_text);
        program_.rules_.push_back({rule, first, first_with_text, past, of_rule.always});
    }
}

std::uint64_t ClauseProgramBuilder::program_cost() const {
    std::uint64_t cost = program_.rules_.size() * cycles::kRule +
                         program_.clauses_.size() * cycles::kClause +
                         program_.terms_.size() * cycles::kTerm;
    std::vector<bool> looked_up(parts_.dimensions.size());
    for (const ColumnTest& test : program_.tests_) {
        cost += test.cost;
        if (test.kind == ColumnTest::Kind::LookUp && !looked_up[test.dimension]) {
            looked_up[test.dimension] = true;
            cost += look_up_cost(parts_.dimensions[test.dimension]);
        }
    }
    return cost;
}

std::uint64_t ClauseProgramBuilder::index_cost() const {
    std::uint64_t cost = cycles::kIndexBurst;
    for (const DimensionParts& dimension : parts_.dimensions) {
        cost += look_up_cost(dimension) + cycles::kIndexBlock * blocks_for(parts_.rule_of.size());
    }
    return cost;
}

ClauseProgram ClauseProgram::make_anyway(const ClassifierParts& parts,
                                         std::span<const Dimension> dimensions) {
    ClauseProgramBuilder builder{parts, dimensions};
    return builder.build() ? builder.take() : ClauseProgram{};
}

ClauseProgram ClauseProgram::make(const ClassifierParts& parts,
                                  std::span<const Dimension> dimensions) {
    ClauseProgramBuilder builder{parts, dimensions};
    return builder.build() && builder.program_cost() <= builder.index_cost() ? builder.take()
                                                                             : ClauseProgram{};
}

}  // namespace sluice
