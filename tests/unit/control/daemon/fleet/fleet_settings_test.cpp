#include "tests/unit/control/daemon/fleet/fleet_settings_fixture.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

namespace sluice::fleet_settings_test {
namespace {

TEST_F(FleetSettingsBox, ABanOfTheClusterIsSetHereAndGoesWithIt) {
    EXPECT_EQ(change(ban("192.0.2.1", "too many logins")), 1U);
    poll();
    EXPECT_EQ(set_here(), "192.0.2.1 banned;");
    EXPECT_EQ(rules().view()->keys.front().reason, "too many logins");
    EXPECT_EQ(record().settings, 1U);
    EXPECT_EQ(audited("key ban a 192.0.2.1 --cluster"), 1U);
    EXPECT_EQ(audited("eve at x"), 1U);
    EXPECT_EQ(change(unban("192.0.2.1")), 2U);
    poll();
    EXPECT_EQ(set_here(), "");
    EXPECT_EQ(record().settings, 2U);
    EXPECT_EQ(audited("key unban a 192.0.2.1 --cluster"), 1U);
}

TEST_F(FleetSettingsBox, NumbersOfTheLatestChangeCount) {
    KeySetting fast{.rule = "a", .key = "192.0.2.1", .limit = "1", .rate = "5/s"};
    change({.put = {fast}, .by = "eve"});
    poll();
    EXPECT_EQ(set_here(), "192.0.2.1 1: rate 5/s;");
    fast.rate = "9/s";
    change({.put = {fast}, .by = "eve"});
    poll();
    EXPECT_EQ(set_here(), "192.0.2.1 1: rate 9/s;");
    change({.put = {{.rule = "a", .key = "192.0.2.1", .what = What::Exempt}}, .by = "eve"});
    poll();
    EXPECT_EQ(set_here(), "192.0.2.1 exempt;");
    EXPECT_EQ(read_fleet_settings(*std::make_unique<FleetStore>(store()))->settings.set.size(), 1U);
}

TEST_F(FleetSettingsBox, ABoxThatComesLaterOrStartsAnewHasAllThatHolds) {
    change(ban("192.0.2.1"));
    change(ban("192.0.2.2"));
    poll();
    const std::uint64_t generation = rules().view()->generation;
    join();
    poll();
    EXPECT_EQ(rules().view()->generation, generation) << "nothing is set twice";
    EXPECT_EQ(set_here(), "192.0.2.1 banned;192.0.2.2 banned;");
    EXPECT_EQ(board_.settings()->set.size(), 2U);
}

TEST_F(FleetSettingsBox, AnEtcdThatIsAwayOrHasLostAllChangesNothingAndIsToldAgain) {
    change(ban("192.0.2.1"));
    change(ban("192.0.2.2"));
    poll();
    etcd_.is_away = true;
    poll();
    EXPECT_EQ(set_here(), "192.0.2.1 banned;192.0.2.2 banned;");
    etcd_.is_away = false;
    etcd_.keys.clear();
    poll();
    EXPECT_EQ(set_here(), "192.0.2.1 banned;192.0.2.2 banned;");
    EXPECT_NE(record().settings_error.find("etcd has lost settings"), std::string::npos);
    SettingsDesk own{board_, [this] { return store(); }};
    ASSERT_TRUE(own.change(ban("192.0.2.3")));
    poll();
    EXPECT_EQ(set_here(), "192.0.2.1 banned;192.0.2.2 banned;192.0.2.3 banned;");
    EXPECT_EQ(read_fleet_settings(*std::make_unique<FleetStore>(store()))->settings.set.size(), 3U);
    EXPECT_EQ(record().settings_error, "");
}

TEST_F(FleetSettingsBox, WhatPeopleSetOnTheBoxAloneStays) {
    change(ban("192.0.2.1"));
    poll();
    const SettingChoice choice{.rule = "a", .key = "192.0.2.1", .bans = true};
    ASSERT_FALSE(rules().unset_key(choice, 7).refusal);
    poll();
    poll();
    EXPECT_EQ(set_here(), "") << "an operator let it through here";
    ASSERT_FALSE(rules().set_key(ban_of("192.0.2.1", "of this box"), 7).refusal);
    change(unban("192.0.2.1"));
    poll();
    EXPECT_EQ(set_here(), "192.0.2.1 banned;");
}

TEST_F(FleetSettingsBox, ASettingWaitsForItsRuleAndComesBackWithIt) {
    ASSERT_FALSE(apply(kTwo).refusal);
    change(ban("192.0.2.1"));
    poll();
    EXPECT_EQ(set_here(), "");
    ASSERT_FALSE(apply(kOne).refusal);
    poll();
    EXPECT_EQ(set_here(), "192.0.2.1 banned;");
    ASSERT_FALSE(apply(kTwo).refusal);
    poll();
    ASSERT_FALSE(apply(kOne).refusal);
    poll();
    EXPECT_EQ(set_here(), "192.0.2.1 banned;");
}

TEST_F(FleetSettingsBox, WhatTheBoxCannotSetIsToldAndHindersNothingElse) {
    KeySetting wrong{.rule = "a", .key = "192.0.2.9", .limit = "1", .rate = "many"};
    change({.put = {wrong, ban_of("192.0.2.1")}, .by = "eve"});
    poll();
    EXPECT_EQ(set_here(), "192.0.2.1 banned;");
    EXPECT_NE(record().settings_error.find("a 192.0.2.9: "), std::string::npos);
    EXPECT_EQ(record().settings, 1U);
    const std::size_t lines = audited("192.0.2.9");
    poll();
    EXPECT_EQ(audited("192.0.2.9"), lines) << "it is not tried again by the same rules";
}

TEST_F(FleetSettingsBox, AnActIsDoneOnce) {
    const FleetSettingsChange reset{.acts = {{.action = "reset", .rule = "a", .key = "192.0.2.1"}},
                                    .by = "eve"};
    change(reset);
    poll();
    EXPECT_EQ(audited("key reset a 192.0.2.1 --cluster"), 1U);
    poll();
    join();
    change(ban("192.0.2.7"));
    poll();
    EXPECT_EQ(audited("key reset a 192.0.2.1 --cluster"), 1U);
    change(reset);
    poll();
    EXPECT_EQ(audited("key reset a 192.0.2.1 --cluster"), 2U);
}

TEST_F(FleetSettingsBox, ActsOfBeforeABoxHasJoinedAreNotForIt) {
    change(
        {.acts = {{.action = "grant", .rule = "a", .key = "192.0.2.1", .units = 5}}, .by = "eve"});
    std::filesystem::remove(std::string{folder_ / "state"} + "/cluster_keys.json");
    follower_.emplace(store(), board_,
                      SettingsFollower::Box{rules(), link(), audit_, folder_ / "state"});
    poll();
    EXPECT_EQ(record().settings, 1U);
    EXPECT_EQ(audited("key grant"), 0U);
}

TEST_F(FleetSettingsBox, WhatIsFullIsRefusedAndCounted) {
    FleetSettingsChange many{.by = "eve"};
    for (std::size_t i = 0; i < kMostFleetSettings; ++i) {
        many.put.push_back(
            ban_of("10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256)));
    }
    EXPECT_EQ(change(many), 1U);
    const Result<FleetChanged> more = desk_.change(ban("192.0.2.1"));
    ASSERT_FALSE(more);
    EXPECT_EQ(more.error().code, Errc::TooMany);
    EXPECT_EQ(desk_.refused(), 1U);
    poll();
    EXPECT_EQ(rules().view()->keys.size(), kMostFleetSettings);
    EXPECT_EQ(change(unban("10.0.0.0")), 2U) << "what makes room is always taken";
    EXPECT_EQ(change(ban("192.0.2.1")), 3U);
}

TEST_F(FleetSettingsBox, TenantsHaveAPaceOfTheirOwn) {
    FleetSettingsChange change{.put = {ban_of("192.0.2.1")}, .by = "eve", .of_tenant = true};
    unsigned taken = 0;
    while (taken < 100 && desk_.change(change)) {
        ++taken;
    }
    EXPECT_GE(taken, SettingsDesk::kTenantsAtOnce);
    EXPECT_LT(taken, 100U);
    EXPECT_EQ(desk_.refused(), 1U);
    EXPECT_TRUE(desk_.change(ban("192.0.2.1")));
}

TEST_F(FleetSettingsBox, OfTwoChangesAtOnceBothAreWhole) {
    SettingsDesk own{board_, [this] { return store(); }};
    bool was_quicker = false;
    etcd_.before = [&] {
        if (!std::exchange(was_quicker, etcd_.requests > 1)) {
            if (etcd_.requests > 1) {
                EXPECT_TRUE(own.change(ban("192.0.2.2")));
            }
        }
    };
    etcd_.requests = 0;
    change(ban("192.0.2.1"));
    etcd_.before = nullptr;
    EXPECT_TRUE(was_quicker);
    poll();
    EXPECT_EQ(rules().view()->keys.size(), 2U);
    EXPECT_EQ(record().settings, 2U);
}

TEST_F(FleetSettingsBox, ADamagedRecordIsToldAndANumberOutOfReachIsNotFollowed) {
    change(ban("192.0.2.1"));
    etcd_.put(keys_.setting_keys() + "x", "{");
    poll();
    EXPECT_EQ(set_here(), "192.0.2.1 banned;");
    EXPECT_NE(record().settings_error.find("1 settings of single keys in etcd cannot be read"),
              std::string::npos);
    etcd_.put(keys_.setting_number(), R"({"number":4000000000,"by":"eve"})");
    etcd_.keys.erase(key_of_setting(keys_, ban_of("192.0.2.1")));
    poll();
    EXPECT_EQ(set_here(), "192.0.2.1 banned;");
    EXPECT_EQ(record().settings, 1U);
}

TEST_F(FleetSettingsBox, ABoxThatIsNoMemberChangesNothing) {
    other_board_.change([](FleetStatus& status) { status.membership = Membership::Drained; });
    EXPECT_FALSE(desk_.change(ban("192.0.2.1")));
    other_board_.change([](FleetStatus& status) { status.membership = Membership::Away; });
    const Result<FleetChanged> away = desk_.change(ban("192.0.2.1"));
    ASSERT_FALSE(away);
    EXPECT_EQ(away.error().code, Errc::Unreachable);
    EXPECT_TRUE(etcd_.keys.empty());
}

TEST(FleetSettingRecords, AreReadAsTheyAreWritten) {
    const FleetSetting setting{.number = 3,
                               .by = "eve at x",
                               .setting = {.rule = "a",
                                           .key = "192.0.2.1|/x",
                                           .tier = 2,
                                           .limit = "one",
                                           .rate = "5/s",
                                           .until = 1'900'000'000,
                                           .reason = "contract 17",
                                           .set_at = 1,
                                           .set_by = 7}};
    const Result<FleetSetting> read = fleet_setting_from(text_of(setting));
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, setting);
    const FleetAct act{.number = 4,
                       .by = "eve",
                       .action = "grant",
                       .rule = "a",
                       .key = "k",
                       .tier = 1,
                       .limit = "one",
                       .units = 9};
    const Result<FleetAct> again = fleet_act_from(text_of(act));
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, act);
}

TEST(FleetSettingRecords, WhatIsNoneIsRefused) {
    const FleetSetting good{
        .number = 3, .by = "eve", .setting = {.rule = "a", .key = "k", .what = What::Banned}};
    ASSERT_TRUE(fleet_setting_from(text_of(good)));
    const auto expect_refused = [&](auto spoil) {
        FleetSetting bad = good;
        spoil(bad);
        EXPECT_FALSE(fleet_setting_from(text_of(bad)));
    };
    expect_refused([](FleetSetting& one) { one.number = 0; });
    expect_refused([](FleetSetting& one) { one.number = ~std::uint64_t{0}; });
    expect_refused([](FleetSetting& one) { one.setting.rule = ""; });
    expect_refused([](FleetSetting& one) { one.setting.tier = 0; });
    expect_refused([](FleetSetting& one) { one.setting.until = -1; });
    expect_refused([](FleetSetting& one) { one.setting.rate = "5/s"; });
    expect_refused([](FleetSetting& one) { one.setting.what = What::Numbers; });
    expect_refused([](FleetSetting& one) { one.setting.reason = "a\nb"; });
    expect_refused([](FleetSetting& one) { one.setting.key = std::string(3'000, 'k'); });
    for (const char* text : {"", "{", "[]", "null", "7", "{\"number\":1}"}) {
        EXPECT_FALSE(fleet_setting_from(text)) << text;
        EXPECT_FALSE(fleet_act_from(text)) << text;
    }
    EXPECT_FALSE(
        fleet_act_from(text_of(FleetAct{.number = 1, .action = "grant", .rule = "a", .key = "k"})))
        << "no units";
    EXPECT_FALSE(
        fleet_act_from(text_of(FleetAct{.number = 1, .action = "show", .rule = "a", .key = "k"})));
    EXPECT_FALSE(fleet_number_from("{\"number\":0}"));
}

}  // namespace
}  // namespace sluice::fleet_settings_test
