#pragma once
#include "lib/match/address_key.hpp"
#include "lib/match/classifier_parts.hpp"
#include "lib/packet/packet_headers.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

// The rules that match one packet, read off the parts step by step and clause by clause: the oracle
// of Classifier, for rules without texts.
namespace sluice::test {

template <typename Key>
std::uint32_t reference_row(const std::vector<Step<Key>>& steps, Key key) {
    std::uint32_t row = 0;
    for (const Step<Key>& step : steps) {
        row = step.first <= key ? step.row : row;
    }
    return row;
}

inline std::uint32_t reference_row(const DimensionParts& dimension, const PacketHeaders& headers,
                                   ByteView frame) {
    if (!headers.fields.has(dimension.field)) {
        return dimension.absent_row;
    }
    if (row_of(dimension.field).kind != FieldKind::Address) {
        return reference_row(dimension.steps, read_number(dimension.field, headers, frame));
    }
    const VersionedAddress value = read_address(dimension.field, headers, frame);
    return value.version == IpVersion::V4
               ? reference_row(dimension.steps, v4_key(value.address))
               : reference_row(dimension.v6_steps, v6_key(value.address));
}

// The clauses of a block that a row satisfies; the references before them are counted one by one.
inline Block reference_clauses(const ClassifierParts& parts, const DimensionParts& dimension,
                               std::size_t row, std::size_t block) {
    const std::size_t word = row * dimension.used.size() + block / 64;
    if ((dimension.used[block / 64] >> (block % 64) & 1) == 0) {
        return kFullBlock;
    }
    std::size_t reference = 0;
    for (std::size_t i = 0; i < word; ++i) {
        reference += static_cast<std::size_t>(std::popcount(dimension.open[i]));
    }
    for (std::size_t i = 0; i < block % 64; ++i) {
        reference += dimension.open[word] >> i & 1;
    }
    const bool open = (dimension.open[word] >> (block % 64) & 1) != 0;
    return open ? parts.blocks[dimension.references[reference]] : Block{};
}

inline std::set<std::uint32_t> reference_rules(const ClassifierParts& parts,
                                               const PacketHeaders& headers, ByteView frame) {
    std::vector<char> holds(parts.rule_of.size(), 1);
    for (const DimensionParts& dimension : parts.dimensions) {
        const std::uint32_t row = reference_row(dimension, headers, frame);
        Block of_block;
        for (std::size_t clause = 0; clause < holds.size(); ++clause) {
            if (clause % kBlockBits == 0) {
                of_block = reference_clauses(parts, dimension, row, clause / kBlockBits);
            }
            const std::uint64_t word = of_block.words[clause % kBlockBits / 64];
            holds[clause] = holds[clause] != 0 && (word >> (clause % 64) & 1) != 0 ? 1 : 0;
        }
    }
    std::set<std::uint32_t> rules(parts.always.begin(), parts.always.end());
    for (std::size_t clause = 0; clause < holds.size(); ++clause) {
        if (holds[clause] != 0) {
            rules.insert(parts.rule_of[clause]);
        }
    }
    return rules;
}

}  // namespace sluice::test
