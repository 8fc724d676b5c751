#include "lib/rules/load/segment_choosers.hpp"

#include "lib/packet/header_part.hpp"
#include "lib/rules/load/clause_rows.hpp"

#include <cstdint>

namespace sluice {
namespace {

bool differs_between_segments(Field field) noexcept {
    switch (field) {
        case Field::EthSrc:
        case Field::EthDst:
        case Field::VlanInnerId:
        case Field::OuterIpSrc:
        case Field::OuterIpDst:
        case Field::IpTtl:
        case Field::IpDscp:
        case Field::IpLen:
        case Field::IpFrag:
        case Field::PayloadLen:
            return true;
        default:
            return part_of(field) == HeaderPart::Tcp;
    }
}

// The clauses that some value of this field does not satisfy.
ClauseBits choosing_clauses(const ClassifierParts& parts, const DimensionParts& dimension) {
    const ClauseRows rows{parts, dimension};
    ClauseBits choosing = all_clauses(parts.rule_of.size());
    ClauseBits common = choosing;
    ClauseBits row = choosing;
    for (std::size_t i = 0; i < rows.count(); ++i) {
        rows.read(i, row);
        keep_common(common, row);
    }
    leave_out(choosing, common);
    return choosing;
}

}  // namespace

std::vector<bool> segment_choosers(const ClassifierParts& parts, std::size_t rules) {
    std::vector<bool> choosers(rules);
    for (const DimensionParts& dimension : parts.dimensions) {
        if (!differs_between_segments(dimension.field)) {
            continue;
        }
        const ClauseBits choosing = choosing_clauses(parts, dimension);
        for (std::size_t clause = 0; clause < parts.rule_of.size(); ++clause) {
            const std::uint64_t word =
                choosing[clause / kBlockBits].words[clause % kBlockBits / 64];
            if ((word >> (clause % 64) & 1) != 0) {
                choosers[parts.rule_of[clause]] = true;
            }
        }
    }
    return choosers;
}

}  // namespace sluice
