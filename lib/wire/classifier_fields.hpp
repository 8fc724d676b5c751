#pragma once
#include "lib/match/classifier_parts.hpp"
#include "lib/wire/origin_fields.hpp"

namespace sluice {

template <>
inline constexpr bool kAsInMemory<Block> = std::has_unique_object_representations_v<Block>;

template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, DimensionParts>& dimension) {
    archive(dimension.field, dimension.absent_row, dimension.steps, dimension.v6_steps,
            dimension.used, dimension.open, dimension.references);
}

template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, TextEntry>& entry) {
    archive(entry.field, entry.how, entry.ignore_case, entry.text);
}

template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, TextTestParts>& test) {
    archive(test.field, test.entries);
}

template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, TextTermParts>& term) {
    archive(term.clause, term.test, term.negated);
}

template <typename Archive>
void serialize(Archive& archive, Serialized<Archive, TextDatabaseParts>& database) {
    archive(database.field, database.entries, database.checksum, database.bytes);
}

// Without the databases of patterns, which follow from the texts: one that was compiled in one
// piece and two that were compiled one after the other mean the same.
template <typename Archive>
void serialize_classifier(Archive& archive, Serialized<Archive, ClassifierParts>& parts) {
    archive(parts.always, parts.rule_of, parts.dimensions, parts.blocks, parts.texts.entries,
            parts.texts.tests, parts.texts.terms);
}

}  // namespace sluice
