#pragma once
#include "lib/match/classifier_parts.hpp"
#include "lib/wire/origin_fields.hpp"

namespace sluice {

template <>
inline constexpr bool kAsInMemory<Block> = std::has_unique_object_representations_v<Block>;

void serialize(auto& archive, Of<DimensionParts> auto& dimension) {
    archive(dimension.field, dimension.absent_row, dimension.steps, dimension.v6_steps,
            dimension.used, dimension.open, dimension.references);
}
void serialize(auto& archive, Of<TextEntry> auto& entry) {
    archive(entry.field, entry.how, entry.ignore_case, entry.text);
}
void serialize(auto& archive, Of<TextTestParts> auto& test) {
    archive(test.field, test.entries);
}
void serialize(auto& archive, Of<TextTermParts> auto& term) {
    archive(term.clause, term.test, term.negated);
}
void serialize(auto& archive, Of<TextDatabaseParts> auto& database) {
    archive(database.field, database.entries, database.checksum, database.bytes);
}

// Without the databases of patterns, which follow from the texts: one that was compiled in one
// piece and two that were compiled one after the other mean the same.
void serialize_classifier(auto& archive, Of<ClassifierParts> auto& parts) {
    archive(parts.always, parts.rule_of, parts.dimensions, parts.blocks, parts.texts.entries,
            parts.texts.tests, parts.texts.terms);
}

}  // namespace sluice
