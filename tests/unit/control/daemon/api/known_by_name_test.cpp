#include "control/daemon/api/known_by_name.hpp"

#include "control/daemon/api/range_rows.hpp"
#include "tests/unit/policy/outcome.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

namespace sluice::known_by_name_test {
namespace {

KeyPart address(Field field) {
    KeyPart part;
    part.field = field;
    part.v4_length = 32;
    part.v6_length = 128;
    return part;
}

// A rule by source and destination, of which a file bans so many keys of 10.0.0.7.
RuleSummary rule_of(std::size_t banned) {
    RuleSummary rule;
    rule.id = "flows";
    rule.keys.push_back(GroupingKey{address(Field::IpSrc), address(Field::IpDst)});
    BannedKeys keys;
    for (std::size_t i = 0; i < banned; ++i) {
        const auto key = read_key_text(rule.keys.front(),
                                       fmt::format("10.0.0.7|198.51.{}.{}", i / 256, i % 256));
        EXPECT_TRUE(key);
        if (key) {
            const ByteView bytes = key->bytes.view();
            keys.push_back({.bytes = {bytes.begin(), bytes.end()}});
        }
    }
    rule.banned = std::make_shared<const BannedKeys>(std::move(keys));
    return rule;
}

struct Case {
    explicit Case(std::size_t banned) : rule{rule_of(banned)} {}

    Sought sought = *read_sought("10.0.0.7");
    RuleView view;
    SettingsByRule settings;
    RuleSummary rule;
    KnownByName known{rule, view, settings, sought};
};

TEST(KnownByName, SaysThatKeysFoundNoRoom) {
    const Case fits{KnownByName::kMost};
    EXPECT_EQ(fits.known.keys().size(), KnownByName::kMost);
    EXPECT_FALSE(fits.known.is_cut());
    const Case cut{KnownByName::kMost + 1};
    EXPECT_EQ(cut.known.keys().size(), KnownByName::kMost);
    EXPECT_TRUE(cut.known.is_cut());
}

// Keys that a rule counts often, or that a file bans, take no room of those in penalty boxes.
TEST(KnownByName, KeepsRoomForPenaltyBoxes) {
    Case full{KnownByName::kMost};
    EXPECT_NE(full.known.add_boxed("10.0.0.7|203.0.113.9", 1), nullptr);
    EXPECT_FALSE(full.known.is_cut());
    EXPECT_EQ(full.known.add("10.0.0.7|203.0.113.10", 1), nullptr);
    EXPECT_TRUE(full.known.is_cut());
    EXPECT_EQ(full.known.add_boxed("10.0.0.8|203.0.113.9", 1), nullptr);
    EXPECT_EQ(full.known.keys().size(), KnownByName::kMost + 1);
}

TEST(KnownByName, TellsWhichKeysConcernIt) {
    const Case none{0};
    EXPECT_TRUE(none.known.concerns("10.0.0.7|203.0.113.9", 1));
    EXPECT_TRUE(none.known.concerns("203.0.113.9|10.0.0.7", 1));
    EXPECT_FALSE(none.known.concerns("10.0.0.8|203.0.113.9", 1));
    EXPECT_FALSE(none.known.concerns("10.0.0.7|203.0.113.9", 2));
    EXPECT_TRUE(none.known.keys().empty());
}

// A rule by source, compiled with these overrides.
struct Overridden {
    explicit Overridden(std::string_view of) : sought{*read_sought(of)} {}

    std::string csv =
        "key,limit,rate,burst,count,expires,reason\n"
        "172.16.0.0/12,1,9/s,9,,,the other branch\n"
        "172.16.5.20,exempt,,,,2031-12-31,our monitor\n"
        "172.16.9.4-172.16.9.9,exempt,,,,,\n";
    ListReader files = [this](const std::string& path) -> Result<ListFile> {
        return ListFile{"/etc/" + path, std::make_shared<const std::string>(csv)};
    };
    test::Outcome done = test::compile({"rules",
                                        "version: 1\nrules:\n  - id: r\n    mode: enforce\n"
                                        "    key: [ip.src]\n    limits: [{algorithm: "
                                        "token_bucket, rate: 50/s, burst: 200}]\n"
                                        "    overrides: {file: o.csv}\n",
                                        &files},
                                       Purpose::Enforce);
    Sought sought;
    RuleView view;
    SettingsByRule settings;
    KnownByName known{done.rules->rules[0], view, settings, sought};
};

std::string ranges_of(std::string_view of) {
    std::string text;
    for (const Json& row : Overridden{of}.known.override_ranges()) {
        text += fmt::format("{}:{} ", row.at("key").get<std::string>(), row.at("line").get<int>());
    }
    return text;
}

TEST(KnownByName, NamesOverridesOfNetworksInsideAndAround) {
    const struct {
        std::string_view of;
        std::string_view ranges;
    } kCases[] = {
        {"172.16.0.0/12", "172.16.0.0/12:2 172.16.9.4-172.16.9.9:4 "},
        {"172.0.0.0/8", "172.16.0.0/12:2 172.16.9.4-172.16.9.9:4 "},
        {"172.16.5.0/24", "172.16.0.0/12:2 "},
        {"172.16.9.9-172.16.9.12", "172.16.0.0/12:2 172.16.9.4-172.16.9.9:4 "},
        {"172.16.9.10-172.16.9.12", "172.16.0.0/12:2 "},
        {"172.32.0.0/12", ""},
        {"172.16.9.5", ""},  // its key says so
    };
    for (const auto& one : kCases) {
        EXPECT_EQ(ranges_of(one.of), one.ranges) << one.of;
    }
}

TEST(KnownByName, NamesKeysThatOverridesName) {
    const Overridden around{"172.16.5.0/24"};
    ASSERT_EQ(around.known.keys().size(), 1U);
    const KnownByName::Known& key = around.known.keys().begin()->second;
    EXPECT_EQ(key.key.text, "172.16.5.20");
    const Json rows = own_rows_json(key.key);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].at("line"), 3);
    EXPECT_EQ(rows[0].at("says"), "exempt");
    EXPECT_EQ(rows[0].at("until"), "2032-01-01T00:00:00Z");
    EXPECT_EQ(rows[0].at("reason"), "our monitor");
    EXPECT_TRUE(Overridden{"172.16.6.0/24"}.known.keys().empty());
}

}  // namespace
}  // namespace sluice::known_by_name_test
