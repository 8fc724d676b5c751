#include "control/daemon/key_settings.hpp"

#include "control/daemon/tenant_compile.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <utility>
#include <vector>

namespace sluice::key_settings_test {
namespace {

using What = KeySetting::What;

KeySetting setting(const std::string& key, What what, const std::string& limit = "") {
    return {.rule = "r", .key = key, .what = what, .limit = limit, .rate = "5/s"};
}

TEST(KeySettings, OneThingForEachLimitAndABanBesideIt) {
    KeySettings all;
    EXPECT_TRUE(put_settings(all, {setting("a", What::Numbers, "1")}));
    EXPECT_TRUE(put_settings(all, {setting("a", What::Numbers, "2")}));
    EXPECT_TRUE(put_settings(all, {setting("a", What::Banned)}));
    EXPECT_TRUE(put_settings(all, {setting("b", What::Exempt)}));
    EXPECT_EQ(all.size(), 4U);
    EXPECT_TRUE(put_settings(all, {setting("a", What::Numbers, "1")}));
    EXPECT_TRUE(put_settings(all, {setting("a", What::Banned)}));
    EXPECT_EQ(all.size(), 4U);
    EXPECT_TRUE(put_settings(all, {setting("a", What::Exempt)}));
    EXPECT_EQ(all.size(), 3U);  // in place of the numbers of both limits
    EXPECT_TRUE(put_settings(all, {setting("a", What::Numbers, "1")}));
    EXPECT_EQ(all.size(), 3U);
    EXPECT_FALSE(remove_settings(all, {{.rule = "r", .key = "c"}}));
    EXPECT_FALSE(remove_settings(all, {{.rule = "r", .key = "b", .bans = true}}));
    EXPECT_FALSE(remove_settings(all, {{.rule = "r", .key = "a", .tier = 2}}));
    EXPECT_FALSE(remove_settings(all, {{.rule = "r", .key = "a", .limit = "2"}}));
    EXPECT_TRUE(remove_settings(all, {{.rule = "r", .key = "a", .bans = true}}));
    EXPECT_TRUE(remove_settings(all, {{.rule = "r", .key = "a"}}));
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].key, "b");
}

TEST(KeySettings, ManyAreRemovedAtOnce) {
    KeySettings all{setting("a", What::Banned), setting("a", What::Exempt),
                    setting("b", What::Banned), setting("c", What::Banned)};
    EXPECT_TRUE(remove_settings(all, {{.rule = "r", .key = "a", .bans = true},
                                      {.rule = "r", .key = "c", .bans = true},
                                      {.rule = "r", .key = "d", .bans = true}}));
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].what, What::Exempt);
    EXPECT_EQ(all[1].key, "b");
    EXPECT_FALSE(remove_settings(all, {}));
}

KeySetting of(const std::string& rule, std::size_t number) {
    KeySetting one = setting(std::to_string(number), What::Banned);
    one.rule = rule;
    return one;
}

// sluice.yaml's tenants, as long as it lives.
class Tenants {
public:
    explicit Tenants(std::initializer_list<const char*> names) {
        for (const char* name : names) {
            tenant_options().push_back({.name = name});
        }
    }
    ~Tenants() { tenant_options() = std::move(before_); }
    Tenants(const Tenants&) = delete;
    Tenants& operator=(const Tenants&) = delete;

private:
    std::vector<TenantOptions> before_ = std::exchange(tenant_options(), {});
};

TEST(KeySettings, OfATenantTakeNoneOfTheOthersRoom) {
    const Tenants tenants{"acme", "other", "t0", "t1", "new"};
    KeySettings all;
    for (std::size_t i = 0; i < kMaxTenantKeySettings; ++i) {
        all.push_back(of(i % 2 == 0 ? "acme:a" : "acme:b", i));
    }
    EXPECT_FALSE(put_settings(all, {of("acme:a", 90'000)}));
    EXPECT_EQ(all.size(), kMaxTenantKeySettings) << "a refused one leaves nothing";
    EXPECT_TRUE(put_settings(all, {of("acme:a", 0)})) << "in place of one that is there";
    EXPECT_TRUE(put_settings(all, {of("other:a", 90'000), of("a", 90'000)}));
    for (std::size_t i = 1; all.size() < kMaxTenantsKeySettings + 1; ++i) {
        all.push_back(of("t" + std::to_string(i % 2) + ":a", i));
    }
    EXPECT_FALSE(put_settings(all, {of("new:a", 90'000)})) << "all tenants together";
    EXPECT_TRUE(put_settings(all, {of("a", 90'001)})) << "the rest is the operators'";
}

TEST(KeySettings, OfATenantThatIsGoneTakeNoRoom) {
    const Tenants tenants{"new"};
    KeySettings all;
    for (std::size_t i = 0; i < kMaxTenantsKeySettings; ++i) {
        all.push_back(of("gone:a", i));
    }
    EXPECT_TRUE(put_settings(all, {of("new:a", 1)}));
    EXPECT_EQ(all.size(), kMaxTenantsKeySettings + 1) << "they stay, since it may come back";
    while (all.size() < kMaxKeySettings) {
        all.push_back(of("a", all.size()));
    }
    EXPECT_TRUE(put_settings(all, {of("a", 0)}));
    EXPECT_EQ(all.size(), kMaxKeySettings - kMaxTenantsKeySettings + 1);
    EXPECT_TRUE(std::ranges::none_of(all, [](const auto& one) { return one.rule == "gone:a"; }));
}

TEST(KeySettings, AreBounded) {
    KeySettings all;
    for (std::size_t i = 0; i < kMaxKeySettings; ++i) {
        all.push_back(setting(std::to_string(i), What::Exempt));
    }
    EXPECT_FALSE(put_settings(all, {setting("one more", What::Exempt)}));
    EXPECT_TRUE(put_settings(all, {setting("7", What::Numbers, "1")}));
    EXPECT_EQ(all.size(), kMaxKeySettings);
    all.resize(2);
    EXPECT_TRUE(put_settings(all, {setting("8", What::Exempt)}, kMaxKeySettings - 3));
    EXPECT_FALSE(put_settings(all, {setting("9", What::Exempt)}, kMaxKeySettings - 3));
}

TEST(KeySettings, EndAndGoWithTheirRules) {
    KeySettings all{setting("a", What::Exempt), setting("b", What::Exempt),
                    setting("c", What::Exempt)};
    all[0].until = 100;
    all[1].until = 101;
    forget_ended(all, 100);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].key, "b");
    all[1].rule = "s";
    RuleSummary rule;
    rule.id = "s";
    EXPECT_EQ(take_other_rules(all, {rule}).at(0).key, "b");
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].key, "c");
}

TEST(KeySettings, OfATenantThatStandsAsideStay) {
    KeySettings all{setting("a", What::Exempt), setting("b", What::Exempt)};
    all[0].rule = "acme:x";
    all[1].rule = "zeta:x";
    EXPECT_EQ(take_other_rules(all, {}, {{"acme", "why"}}).size(), 1U);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].rule, "acme:x");
}

TEST(KeySettings, ComeBackFromTheDisk) {
    KeySettings all{setting("a", What::Numbers, "1"), setting("b", What::Exempt),
                    setting("c", What::Banned)};
    all[0].until = 12;
    all[0].reason = "why";
    all[0].of = "ip.src|l4.dport";
    all[0].tier = 3;
    all[0].set_at = 5;
    all[0].set_by = 1000;
    EXPECT_EQ(settings_from_json(settings_to_json(all)), all);
    // Former versions wrote every member.
    EXPECT_EQ(settings_from_json(nlohmann::json::parse(
                  R"([{"rule": "r", "key": "c", "tier": 1, "what": "banned", "limit": "",
                       "rate": "", "burst": "", "count": "", "until": 0, "reason": "",
                       "set_at": 0, "set_by": 0}])")),
              settings_from_json(nlohmann::json::parse(
                  R"([{"rule": "r", "key": "c", "tier": 1, "what": "banned"}])")));
    EXPECT_TRUE(settings_from_json(nlohmann::json::parse(R"([1, {}, {"what": "x"}])")).empty());
    EXPECT_TRUE(settings_from_json(nlohmann::json::parse("7")).empty());
}

TEST(KeySettings, AnyOtherFieldIsAnotherSum) {
    const KeySettings some{setting("a", What::Numbers, "1"), setting("b", What::Exempt)};
    const auto changed = [&some](auto&& change) {
        KeySettings other = some;
        change(other[1]);
        return sum_of_settings(other);
    };
    const std::set<std::uint64_t> sums{sum_of_settings(some),
                                       sum_of_settings({some[0]}),
                                       sum_of_settings({some[1], some[0]}),
                                       changed([](KeySetting& one) { one.rule += "x"; }),
                                       changed([](KeySetting& one) { one.key += "x"; }),
                                       changed([](KeySetting& one) { one.tier = 2; }),
                                       changed([](KeySetting& one) { one.what = What::Banned; }),
                                       changed([](KeySetting& one) { one.limit = "x"; }),
                                       changed([](KeySetting& one) { one.rate = "x"; }),
                                       changed([](KeySetting& one) { one.burst = "x"; }),
                                       changed([](KeySetting& one) { one.count = "x"; }),
                                       changed([](KeySetting& one) { one.until = 1; }),
                                       changed([](KeySetting& one) { one.reason = "x"; }),
                                       changed([](KeySetting& one) { one.of = "x"; }),
                                       changed([](KeySetting& one) { one.set_at = 1; }),
                                       changed([](KeySetting& one) { one.set_by = 1; })};
    EXPECT_EQ(sums.size(), 16U);
    EXPECT_EQ(changed([](KeySetting& one) { one.is_new = true; }), sum_of_settings(some));
}

}  // namespace
}  // namespace sluice::key_settings_test
