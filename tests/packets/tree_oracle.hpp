#pragma once
#include "lib/packet/flow.hpp"
#include "lib/policy/expression.hpp"

#include <algorithm>

// What a condition says of a packet, worked out as it stands: the tree walked, each set asked one
// range after the other. It shares nothing with the compiled form and is its oracle.
namespace sluice::test {

template <typename Range, typename Value>
bool any_holds(const std::vector<Range>& ranges, const Value& value) {
    return std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) {
        return range.first <= value && value <= range.last;
    });
}

inline bool leaf_says(const Leaf& leaf, const Flow& flow, ByteView frame) {
    if (!flow.fields.has(leaf.field)) {
        return false;
    }
    if (row_of(leaf.field).kind == FieldKind::Address) {
        const VersionedAddress value = read_address(leaf.field, flow, frame);
        const auto& ranges = value.version == IpVersion::V4 ? leaf.v4 : leaf.v6;
        return any_holds(ranges, value.address) != leaf.negated;
    }
    return any_holds(leaf.numbers, read_number(leaf.field, flow, frame));
}

inline bool tree_says(const Expression& tree, const Flow& flow, ByteView frame) {
    const auto says = [&](const Expression& part) { return tree_says(part, flow, frame); };
    switch (tree.kind) {
        case Expression::Kind::Leaf:
            return leaf_says(tree.leaf, flow, frame);
        case Expression::Kind::Not:
            return !says(tree.parts.front());
        case Expression::Kind::And:
            return std::all_of(tree.parts.begin(), tree.parts.end(), says);
        default:
            return std::any_of(tree.parts.begin(), tree.parts.end(), says);
    }
}

}  // namespace sluice::test
