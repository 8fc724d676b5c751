#include "lib/match/text_parts.hpp"

#include "lib/match/number_ranges.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string_view>
#include <vector>

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
        {"no such field",
         [](TextParts& p) { p.tests[0].field = static_cast<TextField>(kTextFieldCount); }},
        {"no such comparison", [](TextParts& p) { p.entries[2].how = static_cast<TextHow>(6); }},
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

TextParts ranges(std::size_t count) {
    TextParts parts;
    parts.tests.push_back({TextField::DnsQtype, {}});
    for (std::size_t i = 0; i < count; ++i) {
        parts.entries.push_back({TextField::DnsQtype, TextHow::Within, false,
                                 to_text(NumberSpan{100'000 + i, 200'000})});
        parts.tests[0].entries.push_back(static_cast<std::uint32_t>(i));
    }
    parts.terms = {{0, 0, false}};
    return parts;
}

TEST(TextParts, OfNumbersAreRangesAndNotTooMany) {
    EXPECT_TRUE(are_sound(ranges(1), 1));
    EXPECT_TRUE(are_sound(ranges(kMaxNumberRanges), 1));
    EXPECT_FALSE(are_sound(ranges(kMaxNumberRanges + 1), 1));
    for (const char* const text :
         {"", "1", "-", "1-", "-1", "2-1", "1-2-3", "a-b", "1 -2", "1-18446744073709551616"}) {
        TextParts parts = ranges(1);
        parts.entries[0].text = text;
        EXPECT_FALSE(are_sound(parts, 1)) << text;
    }
}

TEST(NumberRanges, HoldFromTheFirstToTheLast) {
    const std::vector<TextEntry> entries{
        {TextField::Payload, TextHow::Within, false, "0-9"},
        {TextField::DnsQtype, TextHow::Equals, false, "5"},
        {TextField::DnsQtype, TextHow::Within, false, "0-5"},
        {TextField::DnsQtype, TextHow::Within, false, "5-18446744073709551615"}};
    const NumberRanges table{entries, TextField::DnsQtype};
    const auto found = [&](std::string_view text) {
        std::vector<std::uint32_t> hits;
        table.find(bytes_of(text), [&](std::uint32_t entry) { hits.push_back(entry); });
        return hits;
    };
    using Hits = std::vector<std::uint32_t>;
    EXPECT_EQ(found("0"), Hits{2});
    EXPECT_EQ(found("5"), (Hits{2, 3}));
    EXPECT_EQ(found("6"), Hits{3});
    EXPECT_EQ(found("18446744073709551615"), Hits{3});
    EXPECT_EQ(found(""), Hits{});
    EXPECT_EQ(found("x"), Hits{});
}

}  // namespace
}  // namespace sluice::text_parts_test
