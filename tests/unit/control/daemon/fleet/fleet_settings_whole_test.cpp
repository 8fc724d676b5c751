#include "control/daemon/api/key_of_cluster.hpp"
#include "control/daemon/tenant_compile.hpp"
#include "tests/unit/control/daemon/fleet/fleet_settings_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

// Changes that are whole or not at all, and room for all.
namespace sluice::fleet_settings_test {
namespace {

// 150 bans, which take two steps.
FleetSettingsChange many_bans() {
    FleetSettingsChange many{.by = "eve at x"};
    for (int i = 1; i <= 150; ++i) {
        many.put.push_back(ban_of("10.0.0." + std::to_string(i)));
    }
    return many;
}

FleetSettingsChange unbans_of(const std::string& rule, std::size_t count) {
    FleetSettingsChange change{.by = "eve at x"};
    for (std::size_t i = 0; i < count; ++i) {
        const std::string key = "10.1." + std::to_string(i / 256) + "." + std::to_string(i % 256);
        change.gone.push_back({.rule = rule, .key = key, .bans = true});
        change.acts.push_back({.action = "unban", .rule = rule, .key = key});
    }
    return change;
}

TEST_F(FleetSettingsBox, AnUnbanIsTriedUntilTheBoxHasDoneIt) {
    change(ban("192.0.2.1"));
    poll();
    stop_dataplane();
    change(unban("192.0.2.1"));
    poll();
    EXPECT_EQ(set_here(), "192.0.2.1 banned;");
    EXPECT_NE(record().settings_error.find("what the cluster has lifted holds here yet"),
              std::string::npos);
    poll();  // with the words for a dataplane that is away, and not for one that has just gone
    const std::size_t lines = audited("key unban a 192.0.2.1 --cluster");
    poll();
    EXPECT_EQ(audited("key unban a 192.0.2.1 --cluster"), lines) << "told once";
    join();  // as after a restart
    EXPECT_EQ(set_here(), "192.0.2.1 banned;");
    start_dataplane();
    tick();
    poll();
    EXPECT_EQ(set_here(), "");
    EXPECT_EQ(record().settings_error, "");
    EXPECT_GT(audited("key unban a 192.0.2.1 --cluster"), lines);
}

TEST_F(FleetSettingsBox, ABanThatComesAgainBeforeItsEndIsDoneHolds) {
    change(ban("192.0.2.1"));
    poll();
    stop_dataplane();
    change(unban("192.0.2.1"));
    poll();
    change(ban("192.0.2.1"));
    poll();
    start_dataplane();
    tick();
    poll();
    poll();
    EXPECT_EQ(set_here(), "192.0.2.1 banned;");
    EXPECT_EQ(record().settings_error, "");
}

TEST_F(FleetSettingsBox, NothingOfAChangeThatWasRefusedHalfWayComesIntoForce) {
    change(ban("192.0.2.1"));
    poll();
    before_each_step([this](int) { etcd_.is_away = true; });
    EXPECT_FALSE(desk_.change(many_bans()));
    etcd_.before = nullptr;
    etcd_.is_away = false;
    const std::string keys = keys_.setting_keys();
    EXPECT_GT(std::ranges::count_if(
                  etcd_.keys, [&](const auto& entry) { return entry.first.starts_with(keys); }),
              90)
        << "the first step was done";
    SettingsDesk own{board_, [this] { return store(); }};
    ASSERT_TRUE(own.change(ban("192.0.2.2")));
    poll();
    EXPECT_EQ(set_here(), "192.0.2.1 banned;192.0.2.2 banned;");
    EXPECT_EQ(std::ranges::count_if(
                  etcd_.keys, [&](const auto& entry) { return entry.first.starts_with(keys); }),
              2);
}

TEST_F(FleetSettingsBox, WhatAHalfWayChangeHasTakenAwayStays) {
    change(many_bans());
    poll();
    const std::size_t set = rules().view()->keys.size();
    FleetSettingsChange gone{.by = "eve at x"};
    for (const KeySetting& one : many_bans().put) {
        gone.gone.push_back({.rule = "a", .key = one.key, .bans = true});
    }
    before_each_step([this](int) { etcd_.is_away = true; });
    EXPECT_FALSE(desk_.change(gone));
    etcd_.before = nullptr;
    etcd_.is_away = false;
    SettingsDesk own{board_, [this] { return store(); }};
    ASSERT_TRUE(own.change(ban("192.0.2.2")));
    poll();
    EXPECT_EQ(rules().view()->keys.size(), set + 1);
}

TEST_F(FleetSettingsBox, ASingleChangeBetweenTheStepsOfAnotherTakesNoneOfIt) {
    SettingsDesk own{board_, [this] { return store(); }};
    before_each_step([&](int step) {
        if (step == 1) {
            EXPECT_TRUE(own.change(ban("192.0.2.2")));
            etcd_.is_away = true;
        }
    });
    EXPECT_FALSE(desk_.change(many_bans()));
    etcd_.before = nullptr;
    etcd_.is_away = false;
    poll();
    EXPECT_EQ(set_here(), "192.0.2.2 banned;");
}

TEST_F(FleetSettingsBox, AChangeWhoseAnswerIsLostIsLookedAfter) {
    const FleetSettingsChange grant{
        .acts = {{.action = "grant", .rule = "a", .key = "192.0.2.1", .units = 5}},
        .by = "eve at x"};
    etcd_.changed = [this](const std::string& key) {
        etcd_.is_lossy = key == keys_.setting_number();
    };
    etcd_.before = [this] { etcd_.is_lossy = false; };
    const Result<FleetChanged> done = desk_.change(grant);
    ASSERT_TRUE(done) << done.error().what;
    EXPECT_EQ(done->number, 1U);
    EXPECT_FALSE(done->is_unknown);
    EXPECT_EQ(in_etcd().acts.size(), 1U);
    etcd_.before = [this] { etcd_.is_away = std::exchange(etcd_.is_lossy, false); };
    const Result<FleetChanged> unknown = desk_.change(grant);
    ASSERT_TRUE(unknown) << unknown.error().what;
    EXPECT_TRUE(unknown->is_unknown);
}

TEST_F(FleetSettingsBox, ABoxThatKnowsLessThanOthersTakesNothingFromThem) {
    const NodeRecord other{.node = "w", .slot = 2, .settings = 7};
    etcd_.put(keys_.node(2), text_of(other));
    const Result<FleetChanged> refused = desk_.change(ban("192.0.2.1"));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().what.find("on box w"), std::string::npos) << refused.error().what;
    etcd_.keys.clear();
    EXPECT_EQ(change(ban("192.0.2.1")), 1U);
}

TEST_F(FleetSettingsBox, TenantsLeaveOperatorsAndEachOtherRoom) {
    tenant_options() = {{.name = "acme"}, {.name = "other"}};
    constexpr std::size_t kShare = kMostFleetTenantActs / 2;
    const Result<FleetChanged> many = desk_.change(unbans_of("acme:web", kMostFleetActs));
    ASSERT_TRUE(many) << many.error().what;
    EXPECT_EQ(many->left, kMostFleetActs - kShare);
    EXPECT_EQ(in_etcd().acts.size(), kShare);
    const Result<FleetChanged> other = desk_.change(unbans_of("other:web", 1));
    EXPECT_TRUE(other && other->left == 0);
    FleetSettingsChange bans{.by = "eve"};
    for (std::size_t i = 0; i <= kMostFleetTenantSettings / 2; ++i) {
        bans.put.push_back({.rule = "acme:web", .key = std::to_string(i), .what = What::Banned});
    }
    const Result<FleetChanged> refused = desk_.change(bans);
    EXPECT_TRUE(!refused && refused.error().code == Errc::TooMany);
    bans.put.pop_back();
    EXPECT_TRUE(desk_.change(bans));
    tenant_options().clear();
    const Result<FleetChanged> reset =
        desk_.change({.acts = {{.action = "reset", .rule = "a", .key = "192.0.2.1"}}, .by = "eve"});
    EXPECT_TRUE(reset);
}

TEST_F(FleetSettingsBox, AnUnbanIsTakenWhereItsActsFindNoRoom) {
    FleetSettingsChange unbans = unbans_of("a", kMostFleetActs + 10);
    for (const SettingChoice& one : unbans.gone) {
        unbans.put.push_back({.rule = one.rule, .key = one.key, .what = What::Banned});
    }
    change({.put = std::exchange(unbans.put, {}), .by = "eve"});
    const Result<FleetChanged> done = desk_.change(unbans);
    ASSERT_TRUE(done) << done.error().what;
    EXPECT_EQ(done->left, 10U);
    EXPECT_TRUE(in_etcd().set.empty());
    EXPECT_EQ(in_etcd().acts.size(), kMostFleetActs);
    const Result<FleetChanged> more = desk_.change(unbans_of("a", 1));
    EXPECT_TRUE(!more && more.error().code == Errc::TooMany) << "it would change nothing";
}

TEST_F(FleetSettingsBox, AnUnbanGoesByWhatEtcdHasAndNotByWhatTheBoxHasFollowed) {
    change(ban("192.0.2.1"));
    SettingsDesk own{board_, [this] { return store(); }};
    FleetSettingsChange needing = unban("192.0.2.1");
    needing.needs_any = true;
    const Result<FleetChanged> done = own.change(needing);
    EXPECT_TRUE(done && done->number == 2);
    const Result<FleetChanged> none = own.change(needing);
    EXPECT_TRUE(none && none->number == 0) << "there is none any more";
    EXPECT_EQ(in_etcd().number, 2U);
}

TEST_F(FleetSettingsBox, ASettingThatCannotBeReadAnyMoreStays) {
    change(ban("192.0.2.1"));
    poll();
    etcd_.put(key_of_setting(keys_, ban_of("192.0.2.1")), "{");
    change(ban("192.0.2.2"));
    poll();
    EXPECT_EQ(set_here(), "192.0.2.1 banned;192.0.2.2 banned;");
    change(unban("192.0.2.2"));
    poll();
    EXPECT_EQ(set_here(), "192.0.2.1 banned;");
}

TEST_F(FleetSettingsBox, AnUnbanEndsARecordThatCannotBeRead) {
    SettingsDesk own{board_, [this] { return store(); }};  // of a box that has followed the ban
    const std::string record = key_of_setting(keys_, ban_of("192.0.2.1"));
    for (SettingsDesk* desk : {&desk_, &own}) {
        change(ban("192.0.2.1"));
        poll();
        etcd_.put(record, "{");
        FleetSettingsChange needing = unban("192.0.2.1");
        needing.needs_any = true;
        const Result<FleetChanged> done = desk->change(needing);
        EXPECT_TRUE(done && done->number != 0);
        poll();
        EXPECT_EQ(set_here(), "");
        EXPECT_FALSE(etcd_.keys.contains(record));
    }
}

TEST_F(FleetSettingsBox, OneWrongSettingOfManyCostsFewChanges) {
    FleetSettingsChange many = many_bans();
    many.put.push_back({.rule = "a", .key = "192.0.2.9", .limit = "1", .rate = "many"});
    change(many);
    poll();
    EXPECT_EQ(rules().view()->keys.size(), 150U);
    EXPECT_LT(audited("--cluster"), 20U);
}

TEST_F(FleetSettingsBox, AnEtcdThatForbidsToReadIsTold) {
    etcd_.is_forbidding = true;
    poll();
    EXPECT_NE(record().settings_error.find("403"), std::string::npos);
}

TEST(FleetSettingsOfDynamicRules, EndInTheClusterAsTheyEndOnTheBox) {
    const KeySetting asked{.rule = "a", .key = "k", .limit = "1", .rate = "5/s"};
    RuleView view;
    view.keys = {asked, ban_of("k")};
    view.keys.front().until = 1'900'000'000;
    const KeySettings kept = as_kept({asked, ban_of("other")}, view);
    EXPECT_EQ(kept.front().until, 1'900'000'000);
    EXPECT_EQ(kept.back().until, 0);
}

}  // namespace
}  // namespace sluice::fleet_settings_test
