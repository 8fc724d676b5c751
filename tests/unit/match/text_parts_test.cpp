#include "lib/match/text_parts.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string_view>

namespace sluice::text_parts_test {
namespace {

TextParts example() {
    TextParts parts;
    parts.entries = {{TextField::Payload, TextHow::Equals, false, "a"},
                     {TextField::Payload, TextHow::Contains, false, "b"},
                     {TextField::Payload, TextHow::Matches, true, "c+"}};
    parts.tests = {
        {TextField::Payload, {}}, {TextField::Payload, {0, 1}}, {TextField::Payload, {2}}};
    parts.terms = {{0, 0, false}, {0, 1, true}, {2, 2, false}};
    parts.databases = {{TextField::Payload, {1, TextDatabaseParts::kNoEntry}, 0, {}},
                       {TextField::Payload, {2}, 0, {}}};
    return parts;
}

struct Wrong {
    std::string_view name;
    std::function<void(TextParts&)> spoil;
};

TEST(TextParts, AreSoundOnlyWhenEveryIndexHolds) {
    EXPECT_TRUE(are_sound(example(), 3));
    EXPECT_TRUE(are_sound(TextParts{}, 0));
    const Wrong rows[] = {
        {"a clause too few", [](TextParts& p) { p.terms.back().clause = 3; }},
        {"no such test", [](TextParts& p) { p.terms.back().test = 3; }},
        {"terms out of order", [](TextParts& p) { std::swap(p.terms[0], p.terms[1]); }},
        {"a test twice in a clause", [](TextParts& p) { p.terms[1].test = 0; }},
        {"no such entry", [](TextParts& p) { p.tests[2].entries = {3}; }},
        {"entries of a test out of order", [](TextParts& p) { p.tests[1].entries = {1, 0}; }},
        {"two tests of presence", [](TextParts& p) { p.tests[1].entries = {}; }},
        {"a test of presence behind others", [](TextParts& p) { p.tests[2].entries = {}; }},
        {"no such field", [](TextParts& p) { p.tests[0].field = static_cast<TextField>(9); }},
        {"no such comparison", [](TextParts& p) { p.entries[2].how = static_cast<TextHow>(5); }},
        {"entries out of order",
         [](TextParts& p) {
             p.entries[0].text = "z";
             std::swap(p.entries[0], p.entries[1]);
         }},
        {"an entry that is too long",
         [](TextParts& p) { p.entries[2].text.assign(kMaxEntrySize + 1, 'c'); }},
        {"a pattern in no database", [](TextParts& p) { p.databases.pop_back(); }},
        {"a pattern in two", [](TextParts& p) { p.databases[1].entries = {2, 1}; }},
        {"a text in a database", [](TextParts& p) { p.databases[1].entries = {2, 0}; }},
        {"a number of no entry", [](TextParts& p) { p.databases[1].entries = {2, 7}; }},
        {"three databases",
         [](TextParts& p) { p.databases.push_back({TextField::Payload, {}, 0, {}}); }},
    };
    for (const Wrong& row : rows) {
        TextParts parts = example();
        row.spoil(parts);
        EXPECT_FALSE(are_sound(parts, 3)) << row.name;
    }
}

}  // namespace
}  // namespace sluice::text_parts_test
