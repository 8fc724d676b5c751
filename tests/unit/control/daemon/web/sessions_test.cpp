#include "control/daemon/web/sessions.hpp"

#include "control/daemon/web/link_secrets.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace sluice::sessions_test {
namespace {

using namespace std::chrono_literals;

constexpr Sessions::Clock::time_point kNow{std::chrono::hours{1}};

Session of(const std::string& user, Role role = Role::View) {
    return {.user = user, .role = role, .end = kNow + 12h};
}

TEST(Sessions, OneIsFoundByItsTokenUntilItsEnd) {
    Sessions sessions;
    const Result<std::string> token = sessions.begin(of("bob", Role::Operate), kNow);
    ASSERT_TRUE(token);
    const auto found = sessions.find(*token, kNow + 12h - 1s);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->user, "bob");
    EXPECT_EQ(found->role, Role::Operate);
    EXPECT_FALSE(sessions.find(token->substr(1), kNow));
    EXPECT_FALSE(sessions.find("", kNow));
    EXPECT_FALSE(sessions.find(*token, kNow + 12h));
    EXPECT_FALSE(sessions.find(*token, kNow)) << "one that has ended is gone";
}

TEST(Sessions, OneIsEnded) {
    Sessions sessions;
    const Result<std::string> token = sessions.begin(of("bob"), kNow);
    const Result<std::string> other = sessions.begin(of("bob"), kNow);
    sessions.end(*token);
    EXPECT_FALSE(sessions.find(*token, kNow));
    EXPECT_TRUE(sessions.find(*other, kNow));
    EXPECT_EQ(sessions.count(kNow), 1U);
}

TEST(Sessions, OfOneUserTheIdlestMakesRoom) {
    Sessions sessions;
    std::vector<std::string> tokens;
    for (std::size_t i = 0; i < Sessions::kMostOfUser; ++i) {
        tokens.push_back(*sessions.begin(of("bob"), kNow + std::chrono::seconds{i}));
    }
    const std::string other = *sessions.begin(of("alice"), kNow);
    (void)sessions.find(tokens[0], kNow + 1min);
    ASSERT_TRUE(sessions.begin(of("bob"), kNow + 2min));
    EXPECT_TRUE(sessions.find(tokens[0], kNow + 2min));
    EXPECT_FALSE(sessions.find(tokens[1], kNow + 2min));
    EXPECT_TRUE(sessions.find(other, kNow + 2min));
}

// Of the same name, too: a token may have the name of an operator.
TEST(Sessions, NobodyEndsThoseOfWhoMayDoMore) {
    Sessions sessions;
    const std::string admin = *sessions.begin(of("root", Role::Admin), kNow);
    for (std::size_t i = 0; i < Sessions::kMostOfUser + 4; ++i) {
        ASSERT_TRUE(sessions.begin(of("root"), kNow + 1s)) << i;
    }
    EXPECT_TRUE(sessions.find(admin, kNow + 2s));
    Sessions full;
    for (std::size_t i = 0; i < Sessions::kMostOfUser; ++i) {
        ASSERT_TRUE(full.begin(of("root", Role::Admin), kNow));
    }
    EXPECT_FALSE(full.begin(of("root"), kNow));
}

TEST(Sessions, OfOneUserTheyBeginAtAPace) {
    Sessions sessions;
    for (unsigned i = 0; i < Sessions::kBegunAtOnce; ++i) {
        ASSERT_TRUE(sessions.begin(of("bob"), kNow)) << i;
    }
    const Result<std::string> more = sessions.begin(of("bob"), kNow);
    ASSERT_FALSE(more);
    EXPECT_EQ(more.error().code, Errc::Busy);
    EXPECT_TRUE(sessions.begin(of("alice"), kNow));
    EXPECT_TRUE(sessions.begin(of("bob"), kNow + Sessions::kBegunEvery));
    EXPECT_FALSE(sessions.begin(of("bob"), kNow + Sessions::kBegunEvery));
}

TEST(Sessions, WhereAllPlacesAreTakenTheWeakerMakeRoomForTheStronger) {
    Sessions sessions;
    const std::string first = *sessions.begin(of("first", Role::Admin), kNow);
    std::string second;
    for (std::size_t i = 1; i < Sessions::kMost; ++i) {
        const std::string token =
            *sessions.begin(of("u" + std::to_string(i), Role::Operate), kNow + 1s);
        second = i == 1 ? token : second;
    }
    const Result<std::string> view = sessions.begin(of("viewer"), kNow + 2s);
    ASSERT_FALSE(view);
    EXPECT_EQ(view.error().code, Errc::Busy);
    (void)sessions.find(second, kNow + 2s);
    ASSERT_TRUE(sessions.begin(of("boss", Role::Admin), kNow + 3s));
    EXPECT_EQ(sessions.count(kNow + 3s), Sessions::kMost);
    EXPECT_FALSE(sessions.find(first, kNow + 3s)) << "the idlest of no higher role";
    EXPECT_TRUE(sessions.find(second, kNow + 3s));
    EXPECT_TRUE(sessions.begin(of("late"), kNow + 12h)) << "those that end leave their places";
}

Session of_tenant(const std::string& tenant, const std::string& user) {
    Session session = of(user, Role::Tenant);
    session.tenant = tenant;
    return session;
}

TEST(Sessions, AllUsersOfATenantAreOneAndMakeRoomForEachOtherAlone) {
    Sessions sessions;
    const std::string first = *sessions.begin(of_tenant("acme", "u0"), kNow);
    const std::string other = *sessions.begin(of_tenant("other", "u0"), kNow);
    const std::string view = *sessions.begin(of("acme"), kNow);
    for (std::size_t i = 1; i < Sessions::kMostOfUser; ++i) {
        ASSERT_TRUE(sessions.begin(of_tenant("acme", "u" + std::to_string(i)), kNow + 1s)) << i;
    }
    ASSERT_TRUE(sessions.begin(of_tenant("acme", "late"), kNow + 2s));
    EXPECT_FALSE(sessions.find(first, kNow + 2s)) << "the idlest of the tenant";
    EXPECT_TRUE(sessions.find(other, kNow + 2s)) << "of the same name";
    EXPECT_TRUE(sessions.find(view, kNow + 2s)) << "an operator who is called like the tenant";
    for (unsigned i = Sessions::kMostOfUser + 1; i < Sessions::kBegunAtOnce; ++i) {
        ASSERT_TRUE(sessions.begin(of_tenant("acme", "x" + std::to_string(i)), kNow + 3s)) << i;
    }
    EXPECT_FALSE(sessions.begin(of_tenant("acme", "new"), kNow + 3s)) << "a pace for them all";
    EXPECT_TRUE(sessions.begin(of_tenant("other", "new"), kNow + 3s));
}

TEST(Sessions, ATenantEndsNobodysWhereAllPlacesAreTaken) {
    Sessions sessions;
    for (std::size_t i = 0; i + 1 < Sessions::kMost; ++i) {
        ASSERT_TRUE(sessions.begin(of("u" + std::to_string(i)), kNow));
    }
    const std::string idle = *sessions.begin(of_tenant("other", "o"), kNow);
    EXPECT_FALSE(sessions.begin(of_tenant("acme", "a"), kNow + 1s));
    EXPECT_TRUE(sessions.find(idle, kNow + 1s));
    EXPECT_TRUE(sessions.begin(of("viewer"), kNow + 2s)) << "an operator has room";
}

TEST(LinkSecrets, EachBeginsOneSessionInTime) {
    LinkSecrets links;
    const std::string secret = *links.make({"root", Role::Admin, 12h}, kNow);
    EXPECT_FALSE(links.take("x", kNow));
    const auto promise = links.take(secret, kNow + LinkSecrets::kLife - 1s);
    ASSERT_TRUE(promise);
    EXPECT_EQ(promise->role, Role::Admin);
    EXPECT_FALSE(links.take(secret, kNow)) << "it was used";
    const std::string late = *links.make({"root", Role::View, 1h}, kNow);
    EXPECT_FALSE(links.take(late, kNow + LinkSecrets::kLife));
}

TEST(LinkSecrets, OneThatBeganNothingIsGivenBackUntilItsEnd) {
    LinkSecrets links;
    const std::string secret = *links.make({"root", Role::Admin, 12h}, kNow);
    auto promise = links.take(secret, kNow + 1min);
    ASSERT_TRUE(promise);
    links.put_back(secret, *promise);
    promise = links.take(secret, kNow + 2min);
    ASSERT_TRUE(promise);
    EXPECT_EQ(promise->user, "root");
    links.put_back(secret, *promise);
    EXPECT_FALSE(links.take(secret, kNow + LinkSecrets::kLife));
}

TEST(LinkSecrets, TheOldestGoesWhereThereAreMany) {
    LinkSecrets links;
    const std::string oldest = *links.make({"root", Role::View, 1h}, kNow);
    const std::string next = *links.make({"root", Role::View, 1h}, kNow);
    for (std::size_t i = 1; i < LinkSecrets::kMost; ++i) {
        ASSERT_TRUE(links.make({"root", Role::View, 1h}, kNow));
    }
    EXPECT_FALSE(links.take(oldest, kNow));
    EXPECT_TRUE(links.take(next, kNow));
}

}  // namespace
}  // namespace sluice::sessions_test
