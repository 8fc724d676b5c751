#include "lib/match/classifier_parts.hpp"

#include "random_parts.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

namespace sluice::classifier_parts_test {
namespace {

// Two clauses over ports and sources, for rules 0 and 1.
ClassifierParts example() {
    Block first;
    first.words[0] = 1;
    Block both;
    both.words[0] = 3;
    const DimensionParts source{.field = Field::IpSrc,
                                .absent_row = 0,
                                .steps = {{0, 0}, {0x0A00'0000, 1}, {0x0B00'0000, 0}},
                                .v6_steps = {{0, 0}},
                                .used = {1},
                                .open = {0, 1},
                                .references = {0}};
    const DimensionParts port{.field = Field::L4Dport,
                              .absent_row = 0,
                              .steps = {{0, 0}, {53, 1}, {54, 0}},
                              .v6_steps = {},
                              .used = {1},
                              .open = {0, 1},
                              .references = {1}};
    return {
        .always = {0, 2}, .rule_of = {0, 1}, .dimensions = {source, port}, .blocks = {first, both}};
}
constexpr std::size_t kRules = 3;

TEST(AreSound, TakesWhatTheCompilerMakes) {
    EXPECT_TRUE(are_sound(example(), kRules));
    EXPECT_TRUE(are_sound(ClassifierParts{}, 0));
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        EXPECT_TRUE(are_sound(test::RandomParts{seed}.make(7), 7)) << seed;
    }
}

struct Broken {
    std::string_view name;
    void (*break_it)(ClassifierParts&);
};

const Broken kBroken[] = {
    {"a clause of no rule", [](ClassifierParts& p) { p.rule_of[1] = kRules; }},
    {"no such rule", [](ClassifierParts& p) { p.always[1] = kRules; }},
    {"rules out of order", [](ClassifierParts& p) { std::swap(p.always[0], p.always[1]); }},
    {"a rule twice", [](ClassifierParts& p) { p.always[1] = p.always[0]; }},
    {"too many clauses", [](ClassifierParts& p) { p.rule_of.resize(kMaxClauses + 1); }},
    {"fewer words than blocks", [](ClassifierParts& p) { p.rule_of.resize(kBlockBits * 64 + 1); }},
    {"dimensions without clauses", [](ClassifierParts& p) { p.rule_of.clear(); }},
    {"unknown field", [](ClassifierParts& p) { p.dimensions[1].field = Field{200}; }},
    {"a field twice", [](ClassifierParts& p) { p.dimensions[1] = p.dimensions[0]; }},
    {"fields out of order",
     [](ClassifierParts& p) { std::swap(p.dimensions[0], p.dimensions[1]); }},
    {"no row for absent", [](ClassifierParts& p) { p.dimensions[0].absent_row = 2; }},
    {"no steps", [](ClassifierParts& p) { p.dimensions[0].steps.clear(); }},
    {"no steps of IPv6", [](ClassifierParts& p) { p.dimensions[0].v6_steps.clear(); }},
    {"steps of IPv6 for a port", [](ClassifierParts& p) { p.dimensions[1].v6_steps = {{0, 0}}; }},
    {"steps that begin late", [](ClassifierParts& p) { p.dimensions[0].steps[0].first = 1; }},
    {"steps out of order",
     [](ClassifierParts& p) { std::swap(p.dimensions[0].steps[1], p.dimensions[0].steps[2]); }},
    {"a step twice", [](ClassifierParts& p) { p.dimensions[1].steps[2].first = 53; }},
    {"a step past the largest",
     [](ClassifierParts& p) { p.dimensions[1].steps[2].first = 65'536; }},
    {"a step past the largest IPv4 address",
     [](ClassifierParts& p) { p.dimensions[0].steps[2].first = std::uint64_t{1} << 32; }},
    {"a step to no row", [](ClassifierParts& p) { p.dimensions[1].steps[1].row = 2; }},
    {"no words of used", [](ClassifierParts& p) { p.dimensions[0].used.clear(); }},
    {"a used block that is not", [](ClassifierParts& p) { p.dimensions[0].used[0] = 3; }},
    {"no rows", [](ClassifierParts& p) { p.dimensions[0].open.clear(); }},
    {"open and not used", [](ClassifierParts& p) { p.dimensions[0].used[0] = 0; }},
    {"a reference too few", [](ClassifierParts& p) { p.dimensions[0].references.clear(); }},
    {"a reference too many", [](ClassifierParts& p) { p.dimensions[0].references.push_back(0); }},
    {"no such block", [](ClassifierParts& p) { p.dimensions[0].references[0] = 2; }},
};

TEST(AreSound, RefusesWhatWouldMisleadAWorker) {
    for (const Broken& row : kBroken) {
        ClassifierParts parts = example();
        row.break_it(parts);
        EXPECT_FALSE(are_sound(parts, kRules)) << row.name;
    }
}

}  // namespace
}  // namespace sluice::classifier_parts_test
