#include "lib/match/classifier_parts.hpp"

#include "lib/match/sound_steps.hpp"

#include <algorithm>
#include <bit>
#include <functional>

namespace sluice {
namespace {

bool all_steps_hold(const DimensionParts& dimension, std::size_t rows) {
    if (row_of(dimension.field).kind == FieldKind::Address) {
        return are_sound(dimension.steps, {kV4Bits, kMaxSteps, rows}) &&
               are_sound(dimension.v6_steps, {kV6Bits, kMaxWideSteps, rows});
    }
    const unsigned bits = key_bits(dimension.field);
    return (bits > kMaxTableBits || rows <= kMaxTableRows) &&
           are_sound(dimension.steps, {bits, kMaxSteps, rows}) && dimension.v6_steps.empty();
}

// Each row has as many references as its bits within `used`.
bool rows_hold(const DimensionParts& dimension, std::size_t summary, std::size_t blocks) {
    std::size_t references = 0;
    for (std::size_t i = 0; i < dimension.open.size(); ++i) {
        if ((dimension.open[i] & ~dimension.used[i % summary]) != 0) {
            return false;
        }
        references += static_cast<std::size_t>(std::popcount(dimension.open[i]));
    }
    return references == dimension.references.size() &&
           std::all_of(dimension.references.begin(), dimension.references.end(),
                       [&](std::uint32_t block) { return block < blocks; });
}

bool dimension_holds(const DimensionParts& dimension, const ClassifierParts& parts) {
    const std::size_t summary = summary_for(parts.rule_of.size());
    if (static_cast<std::size_t>(dimension.field) >= kFieldCount || summary == 0 ||
        dimension.used.size() != summary || dimension.open.size() % summary != 0) {
        return false;
    }
    const std::size_t rows = dimension.open.size() / summary;
    const std::size_t blocks = blocks_for(parts.rule_of.size());
    const bool used_blocks_exist =
        blocks % 64 == 0 || (dimension.used.back() >> (blocks % 64)) == 0;
    return rows <= kMaxRows && used_blocks_exist && dimension.absent_row < rows &&
           all_steps_hold(dimension, rows) && rows_hold(dimension, summary, parts.blocks.size());
}

}  // namespace

bool are_sound(const ClassifierParts& parts, std::size_t rules) {
    const auto is_rule = [&](std::uint32_t rule) { return rule < rules; };
    if (!are_sound(parts.texts, parts.rule_of.size()) || parts.rule_of.size() > kMaxClauses ||
        parts.dimensions.size() > kFieldCount || parts.blocks.size() > kMaxDifferentBlocks ||
        !std::all_of(parts.rule_of.begin(), parts.rule_of.end(), is_rule) ||
        !std::all_of(parts.always.begin(), parts.always.end(), is_rule)) {
        return false;
    }
    for (std::size_t i = 0; i < parts.dimensions.size(); ++i) {
        const DimensionParts& dimension = parts.dimensions[i];
        const bool ascending = i == 0 || parts.dimensions[i - 1].field < dimension.field;
        if (!ascending || !dimension_holds(dimension, parts)) {
            return false;
        }
    }
    return std::adjacent_find(parts.always.begin(), parts.always.end(), std::greater_equal<>{}) ==
           parts.always.end();
}

}  // namespace sluice
