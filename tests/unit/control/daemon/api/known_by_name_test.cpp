#include "control/daemon/api/known_by_name.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

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

}  // namespace
}  // namespace sluice::known_by_name_test
