#include "dataplane/xdp/boxed_bans.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice::boxed_bans_test {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

IpPrefix source(std::string_view text) {
    const auto address = parse_address(text);
    return {address->version, address->address,
            static_cast<std::uint8_t>(address->version == IpVersion::V4 ? 32 : 128)};
}

// Rules that box sources, with boxes of these identities.
LoadedSet set_of(const std::vector<std::uint64_t>& boxes) {
    LoadedSet set;
    for (const std::uint64_t identity : boxes) {
        LoadedRule rule;
        rule.keys = {{{.field = Field::IpSrc}}};
        rule.boxes_sources = true;
        rule.ban.boxes.push_back(LoadedLimit{{.identity = identity, .limit = PenaltyLimit{}}});
        set.rules.push_back(std::move(rule));
    }
    return set;
}

std::string shown(BoxedBans& bans, const LoadedSet& set, std::uint64_t now) {
    std::string text;
    for (const BoxedBans::Carried& one : bans.carry_over(set, now)) {
        text += (text.empty() ? "" : " ") + to_text(one.from) + "=" + std::to_string(one.rule);
    }
    return text;
}

TEST(BoxedBans, GoOnUnderRulesThatHaveTheirBox) {
    BoxedBans bans{10};
    bans.note({source("10.0.0.1"), 7}, 100, 1);
    bans.note({source("10.0.0.2"), 8}, 100, 1);
    bans.note({source("2001:db8::1"), 7}, 100, 1);
    EXPECT_EQ(shown(bans, set_of({8, 7}), 1), "10.0.0.1=1 10.0.0.2=0 2001:db8::1=1");
    EXPECT_EQ(shown(bans, set_of({5, 6, 7}), 1), "10.0.0.1=2 2001:db8::1=2");
    EXPECT_EQ(shown(bans, set_of({8, 7}), 1), "10.0.0.1=1 2001:db8::1=1")
        << "of a box that was gone nothing is known";
    EXPECT_EQ(shown(bans, set_of({}), 1), "");
}

TEST(BoxedBans, WaitWhereTheirRuleBoxesNoSourcesNow) {
    BoxedBans bans{10};
    bans.note({source("10.0.0.1"), 7}, 100, 1);
    LoadedSet monitored = set_of({7});
    monitored.rules[0].boxes_sources = false;
    EXPECT_EQ(shown(bans, monitored, 1), "");
    EXPECT_EQ(shown(bans, set_of({7}), 1), "10.0.0.1=0");
}

TEST(BoxedBans, EndAndAreLifted) {
    BoxedBans bans{10};
    bans.note({source("10.0.0.1"), 7}, 100, 1);
    bans.note({source("10.0.0.1"), 8}, 100, 1);
    bans.note({source("10.0.0.2"), 7}, 50, 1);
    bans.note({source("10.0.0.2"), 7}, 60, 1);
    EXPECT_EQ(shown(bans, set_of({7, 8}), 59), "10.0.0.1=0 10.0.0.1=1 10.0.0.2=0");
    EXPECT_EQ(shown(bans, set_of({7, 8}), 60), "10.0.0.1=0 10.0.0.1=1");
    bans.lift(source("10.0.0.1"));
    bans.lift(source("10.0.0.9"));
    EXPECT_EQ(bans.size(), 0U);
}

TEST(BoxedBans, TakeNoMoreThanTheyMay) {
    BoxedBans bans{2};
    bans.note({source("10.0.0.1"), 7}, 10 * kSecond, 2 * kSecond);
    bans.note({source("10.0.0.2"), 7}, 3 * kSecond, 2 * kSecond);
    bans.note({source("10.0.0.3"), 7}, 9 * kSecond, 2 * kSecond);
    EXPECT_EQ(shown(bans, set_of({7}), 2 * kSecond), "10.0.0.1=0 10.0.0.2=0");
    bans.note({source("10.0.0.1"), 7}, 11 * kSecond, 2 * kSecond);
    EXPECT_EQ(bans.size(), 2U);
    // What has ended makes room; it is looked for once a second.
    BoxedBans full{1};
    full.note({source("10.0.0.1"), 7}, 2 * kSecond, kSecond);
    full.note({source("10.0.0.2"), 7}, 9 * kSecond, kSecond);
    full.note({source("10.0.0.2"), 7}, 9 * kSecond, 2 * kSecond - 1);
    EXPECT_EQ(shown(full, set_of({7}), kSecond), "10.0.0.1=0");
    full.note({source("10.0.0.2"), 7}, 9 * kSecond, 2 * kSecond);
    EXPECT_EQ(shown(full, set_of({7}), kSecond), "10.0.0.2=0");
}

}  // namespace
}  // namespace sluice::boxed_bans_test
