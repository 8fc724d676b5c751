#include "lib/wire/classifier_codec.hpp"

#include "lib/wire/steps_io.hpp"

namespace sluice {
namespace {

// The least bytes of a dimension: field, absent row, five counts.
constexpr std::size_t kDimensionSize = 25;

void put_dimension(Writer& out, const DimensionParts& dimension) {
    out.word(dimension.field);
    out.number(dimension.absent_row);
    put_steps(out, dimension.steps);
    put_steps(out, dimension.v6_steps);
    put_all(out, dimension.used);
    put_all(out, dimension.open);
    put_all(out, dimension.references);
}

DimensionParts get_dimension(Reader& in) {
    DimensionParts dimension;
    dimension.field = in.word<Field>();
    dimension.absent_row = in.number<std::uint32_t>();
    dimension.steps = get_steps<std::uint64_t>(in);
    dimension.v6_steps = get_steps<Wide>(in);
    dimension.used = get_all<std::uint64_t>(in);
    dimension.open = get_all<std::uint64_t>(in);
    dimension.references = get_all<std::uint32_t>(in);
    return dimension;
}

}  // namespace

void put_classifier(Writer& out, const ClassifierParts& parts) {
    put_all(out, parts.always);
    put_all(out, parts.rule_of);
    out.list(parts.dimensions, put_dimension);
    put_all(out, parts.blocks);
}

ClassifierParts get_classifier(Reader& in) {
    ClassifierParts parts;
    parts.always = get_all<std::uint32_t>(in);
    parts.rule_of = get_all<std::uint32_t>(in);
    parts.dimensions = in.list<DimensionParts>(kDimensionSize, get_dimension);
    parts.blocks = get_all<Block>(in);
    return parts;
}

}  // namespace sluice
