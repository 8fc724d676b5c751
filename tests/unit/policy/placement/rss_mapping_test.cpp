#include "lib/policy/placement/rss_mapping.hpp"

#include "lib/policy/box/box.hpp"
#include "lib/policy/compile.hpp"

#include <gtest/gtest.h>

namespace sluice::rss_mapping_test {
namespace {

using By = PortRssMapping::By;

BoxConfig box_of(const std::string& lcores, const std::string& outside, const std::string& inside,
                 const std::string& pair = "") {
    Problems problems{"sluice.yaml"};
    const std::string text = "version: 1\nworkers: {lcores: \"" + lcores +
                             "\"}\nports:\n  - {name: up, outside: {device: " + outside +
                             "}, inside: {device: " + inside + "}" + pair + "}\n";
    const auto box = read_box({"sluice.yaml", text}, Purpose::Enforce, problems);
    EXPECT_TRUE(box) << text;
    return box.value_or(BoxConfig{});
}

TEST(SpreadOfABox, IsWhatTheDataplaneWillDo) {
    struct Row {
        std::string_view name;
        BoxConfig box;
        By outside;
        Rss rss;
    };
    const std::string a = "\"0000:3b:00.0\"";
    const std::string b = "\"0000:3b:00.1\"";
    const Row rows[] = {
        {"one worker", box_of("0@0,1@1", "net_tap0", "net_tap1"), By::OneWorker, Rss::Source},
        {"auto is one", box_of("auto", "net_tap0", "net_tap1"), By::OneWorker, Rss::Source},
        {"virtual ports", box_of("0-2", "net_tap0", "net_tap1"), By::Handover, Rss::Source},
        {"cards", box_of("0-2", a + ", rss: destination", b), By::Port, Rss::Destination},
        {"a card and none", box_of("0-2", a, "net_tap1"), By::Handover, Rss::Source},
        {"one queue", box_of("0-2", a + ", queues: 1", b), By::Handover, Rss::Source},
        {"prefixes", box_of("0-2", a + ", rss: source_prefix", b), By::Handover, Rss::SourcePrefix},
        {"nothing handed over", box_of("0-2", "net_tap0", "net_tap1", ", hand_over: false"),
         By::OneWorker, Rss::Source},
        {"nothing, several queues",
         box_of("0-2", "net_tap0, queues: 2", "net_tap1, queues: 2", ", hand_over: false"),
         By::Unknown, Rss::Source},
    };
    for (const Row& row : rows) {
        const RssMapping rss_mapping = rss_mapping_of(row.box);
        ASSERT_EQ(rss_mapping.ports.size(), 2U) << row.name;
        EXPECT_EQ(rss_mapping.ports[0].by, row.outside) << row.name;
        EXPECT_EQ(rss_mapping.ports[0].rss, row.rss) << row.name;
        EXPECT_EQ(rss_mapping.ports[1].dir, Direction::Out);
    }
}

// What `check` shows with a box and without.
TEST(CompileRules, ScopesAreThoseOfTheBox) {
    const std::string rules =
        "version: 1\nrules:\n"
        "  - {id: a, key: [ip.src], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}\n"
        "  - {id: b, key: [], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}\n"
        "  - {id: c, when: 'dir eq \"out\"', tiers: [{key: [ip.src], limits: [{algorithm: "
        "token_bucket, rate: 1/s, burst: 1}]}, {key: [ip.dst], limits: [{algorithm: token_bucket, "
        "rate: 1/s, burst: 1}]}]}\n";
    const auto scopes = [&](const RssMapping* box) {
        Problems problems{"x"};
        const auto compiled =
            compile_rules({.file = "x", .text = rules, .box = box}, Purpose::Check, {}, problems);
        std::string text;
        for (const RuleSummary& rule : compiled->rules) {
            for (const LimitSummary& limit : rule.limits) {
                text += limit.scope + (bound_text(limit) == limit.bound ? " " : "* ");
            }
        }
        return text;
    };
    EXPECT_EQ(scopes(nullptr), "owner* owner* owner* owner* ");
    const RssMapping one = rss_mapping_of(box_of("auto", "net_tap0", "net_tap1"));
    EXPECT_EQ(scopes(&one), "local local local local ");
    const RssMapping client =
        rss_mapping_of(box_of("0-2", "net_tap0", "net_tap1, rss: destination"));
    EXPECT_EQ(scopes(&client), "owner* owner* owner* owner* ");
}

}  // namespace
}  // namespace sluice::rss_mapping_test
