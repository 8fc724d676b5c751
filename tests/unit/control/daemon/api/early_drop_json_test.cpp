#include "control/daemon/api/early_drop_json.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace sluice::early_drop_json_test {
namespace {

EarlyDropEntry entry(std::uint32_t port, const char* network, EarlyDropSource source) {
    return {.port = port,
            .network = *parse_prefix(network),
            .rule = "dns",
            .source = source,
            .packets = 7};
}
FoundEarlyDrops found(std::vector<EarlyDropEntry> entries) {
    FoundEarlyDrops all{.state = EarlyDropState::Works, .entries = std::move(entries)};
    all.ports = {{"lab", "outside", "eth0", 100, 2, true, true},
                 {"lab", "inside", "", 100, 2, true, true},
                 {.pair = "other", .side = "outside", .interface = "eth9"}};
    return all;
}

TEST(EarlyDropJson, AnEntryOfSeveralPortsIsOne) {
    using enum EarlyDropSource;
    const Json json = early_drop_json(
        found({entry(0, "10.0.0.0/24", NetworkBan), entry(0, "10.0.0.0/8", Condition),
               entry(1, "10.0.0.0/24", NetworkBan)}),
        9, {});
    EXPECT_EQ(json.at("state"), "works");
    EXPECT_FALSE(json.at("more").get<bool>());
    const Json& entries = json.at("entries");
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[0].at("network"), "10.0.0.0/24");
    EXPECT_EQ(entries[0].at("at"), Json({"eth0", "lab inside"}));
    EXPECT_EQ(entries[0].at("rule_packets"), 14);
    EXPECT_EQ(entries[0].at("until"), nullptr);
    EXPECT_EQ(entries[1].at("by"), "condition");
    EXPECT_EQ(json.at("ports")[0].at("early_drop"), true);
    EXPECT_EQ(json.at("ports")[2].at("early_drop"), false);
    EXPECT_EQ(json.at("ports")[1].at("interface"), nullptr);
}

TEST(EarlyDropJson, ABanIsOfWhoHasSetIt) {
    using enum EarlyDropSource;
    KeySetting set{.rule = "dns", .key = "10.0.0.0/24", .what = KeySetting::What::Banned};
    const FoundEarlyDrops all =
        found({entry(0, "10.0.0.0/24", NetworkBan), entry(0, "10.0.0.7/32", KeyBan),
               entry(0, "10.0.0.8/32", PenaltyBox), entry(0, "10.0.0.9/32", Exempt)});
    const auto by = [&](const KeySettings& settings) {
        std::string text;
        const Json json = early_drop_json(all, 9, settings);
        for (const Json& one : json.at("entries")) {
            text +=
                one.at("network").get<std::string>() + "=" + one.at("by").get<std::string>() + " ";
        }
        return text;
    };
    const std::string rest = "10.0.0.7=policy 10.0.0.8=penalty_box 10.0.0.9=exempt ";
    EXPECT_EQ(by({set}), "10.0.0.0/24=operator " + rest);
    EXPECT_EQ(by({}), "10.0.0.0/24=policy " + rest);
    KeySetting other = set;
    other.rule = "web";
    KeySetting ended = set;
    ended.until = 1;
    KeySetting exempt = set;
    exempt.what = KeySetting::What::Exempt;
    EXPECT_EQ(by({other, ended, exempt}), "10.0.0.0/24=policy " + rest);
}

// A port takes no room of another one, and those that are told are whole.
TEST(EarlyDropJson, NetworksAreCounted) {
    using enum EarlyDropSource;
    const FoundEarlyDrops all =
        found({entry(0, "10.0.0.7/32", PenaltyBox), entry(0, "10.0.0.8/32", PenaltyBox),
               entry(0, "10.0.0.9/32", PenaltyBox), entry(1, "10.0.0.7/32", PenaltyBox),
               entry(1, "10.0.0.8/32", PenaltyBox), entry(1, "10.0.0.9/32", PenaltyBox)});
    const Json cut = early_drop_json(all, 2, {});
    EXPECT_TRUE(cut.at("more").get<bool>());
    ASSERT_EQ(cut.at("entries").size(), 2U);
    EXPECT_EQ(cut.at("entries")[1].at("at"), Json({"eth0", "lab inside"}));
    EXPECT_FALSE(early_drop_json(all, 3, {}).at("more").get<bool>());
}

TEST(EarlyDropJson, ConditionsAndExemptionsAreOfNoKey) {
    using enum EarlyDropSource;
    const Json json =
        early_drop_json(found({entry(0, "10.0.0.7/32", Condition), entry(0, "10.0.0.8/32", Exempt),
                               entry(0, "10.0.0.9/32", KeyBan)}),
                        9, {});
    EXPECT_EQ(json.at("entries")[0].at("applies_to"), nullptr);
    EXPECT_EQ(json.at("entries")[1].at("applies_to"), nullptr);
    EXPECT_EQ(json.at("entries")[2].at("applies_to"), "key");
}

TEST(EarlyDropJson, WhatWasNotReadMayBeMore) {
    FoundEarlyDrops all = found({});
    all.ports[1].whole = false;
    EXPECT_TRUE(early_drop_json(all, 9, {}).at("more").get<bool>());
    all.ports[1].capacity = 0;
    EXPECT_FALSE(early_drop_json(all, 9, {}).at("more").get<bool>());
    all.more = true;
    EXPECT_TRUE(early_drop_json(all, 9, {}).at("more").get<bool>());
}

}  // namespace
}  // namespace sluice::early_drop_json_test
