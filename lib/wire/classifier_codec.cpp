#include "lib/wire/classifier_codec.hpp"

#include "lib/wire/steps_io.hpp"

namespace sluice {
namespace {

// The least bytes of a dimension: field, absent row, five counts.
constexpr std::size_t kDimensionSize = 25;
// Of an entry (field, how, case, size), a test, a term and a database.
constexpr std::size_t kEntrySize = 7;
constexpr std::size_t kTestSize = 5;
constexpr std::size_t kTermSize = 9;
constexpr std::size_t kDatabaseSize = 17;

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

void put_entry(Writer& out, const TextEntry& entry) {
    out.word(entry.field);
    out.word(entry.how);
    out.number<std::uint8_t>(entry.ignore_case ? 1 : 0);
    out.text(entry.text);
}

TextEntry get_entry(Reader& in) {
    TextEntry entry;
    entry.field = in.word<TextField>();
    entry.how = in.word<TextHow>();
    entry.ignore_case = in.flag();
    entry.text = in.text();
    return entry;
}

void put_test(Writer& out, const TextTestParts& test) {
    out.word(test.field);
    put_all(out, test.entries);
}

TextTestParts get_test(Reader& in) {
    const auto field = in.word<TextField>();
    return {field, get_all<std::uint32_t>(in)};
}

void put_term(Writer& out, const TextTermParts& term) {
    out.number(term.clause);
    out.number(term.test);
    out.number<std::uint8_t>(term.negated ? 1 : 0);
}

TextTermParts get_term(Reader& in) {
    const auto clause = in.number<std::uint32_t>();
    const auto test = in.number<std::uint32_t>();
    return {clause, test, in.flag()};
}

void put_database(Writer& out, const TextDatabaseParts& database) {
    out.word(database.field);
    put_all(out, database.entries);
    out.number(database.checksum);
    put_all(out, database.bytes);
}

TextDatabaseParts get_database(Reader& in) {
    TextDatabaseParts database;
    database.field = in.word<TextField>();
    database.entries = get_all<std::uint32_t>(in);
    database.checksum = in.number<std::uint64_t>();
    database.bytes = get_all<std::byte>(in);
    return database;
}

}  // namespace

void put_databases(Writer& out, const ClassifierParts& parts) {
    out.list(parts.texts.databases, put_database);
}

void get_databases(Reader& in, ClassifierParts& parts) {
    parts.texts.databases = in.list<TextDatabaseParts>(kDatabaseSize, get_database);
}

void put_classifier(Writer& out, const ClassifierParts& parts) {
    put_all(out, parts.always);
    put_all(out, parts.rule_of);
    out.list(parts.dimensions, put_dimension);
    put_all(out, parts.blocks);
    out.list(parts.texts.entries, put_entry);
    out.list(parts.texts.tests, put_test);
    out.list(parts.texts.terms, put_term);
}

ClassifierParts get_classifier(Reader& in) {
    ClassifierParts parts;
    parts.always = get_all<std::uint32_t>(in);
    parts.rule_of = get_all<std::uint32_t>(in);
    parts.dimensions = in.list<DimensionParts>(kDimensionSize, get_dimension);
    parts.blocks = get_all<Block>(in);
    parts.texts.entries = in.list<TextEntry>(kEntrySize, get_entry);
    parts.texts.tests = in.list<TextTestParts>(kTestSize, get_test);
    parts.texts.terms = in.list<TextTermParts>(kTermSize, get_term);
    return parts;
}

}  // namespace sluice
