#include "control/daemon/places.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sluice::places_test {
namespace {

// How many a user gets before it is refused.
std::size_t taken_by(Places& places, RequestClass kind, uid_t user) {
    std::size_t count = 0;
    while (places.take(kind, user)) {
        ++count;
    }
    return count;
}

TEST(Places, AreBoundedByKindAndByUser) {
    for (const RequestClass kind : {RequestClass::Ordinary, RequestClass::Watching,
                                    RequestClass::Panic, RequestClass::Live}) {
        Places places;
        const Places::Bound bound = Places::kBounds[static_cast<std::size_t>(kind)];
        EXPECT_EQ(taken_by(places, kind, 1), bound.of_user);
        EXPECT_EQ(taken_by(places, kind, 2), std::min(bound.of_user, bound.all - bound.of_user));
        places.give_back(kind, 1);
        EXPECT_EQ(taken_by(places, kind, 1), 1U);
    }
}

TEST(Places, AreCrowdedBeyondHalf) {
    Places places;
    const auto half = Places::kBounds[static_cast<std::size_t>(RequestClass::Panic)].of_user / 2;
    for (std::size_t i = 0; i < half; ++i) {
        ASSERT_TRUE(places.take(RequestClass::Panic, 1));
    }
    EXPECT_FALSE(places.is_crowded(RequestClass::Panic, 1));
    ASSERT_TRUE(places.take(RequestClass::Panic, 1));
    EXPECT_TRUE(places.is_crowded(RequestClass::Panic, 1));
    EXPECT_TRUE(places.is_crowded(RequestClass::Panic, 2)) << "more than half of all";
    EXPECT_FALSE(places.is_crowded(RequestClass::Watching, 1));
}

TEST(Places, OfOneKindAreNotTakenByAnother) {
    Places places;
    for (const uid_t user : {1U, 2U, 3U}) {
        (void)taken_by(places, RequestClass::Ordinary, user);
        (void)taken_by(places, RequestClass::Watching, user);
    }
    EXPECT_TRUE(places.take(RequestClass::Panic, 1));
}

TEST(Places, OfTenantsTakeNoneOfTheOperators) {
    Places places;
    const auto tenants = Places::kBounds[static_cast<std::size_t>(RequestClass::TenantLive)];
    EXPECT_EQ(taken_by(places, tenant_class(RequestClass::Live), 1), tenants.of_user);
    EXPECT_TRUE(places.take(RequestClass::TenantLive, 2)) << "another tenant has its own";
    for (uid_t user = 3; user < 40; ++user) {
        (void)taken_by(places, RequestClass::TenantLive, user);
        (void)taken_by(places, tenant_class(RequestClass::Panic), user);
    }
    EXPECT_FALSE(places.take(RequestClass::TenantLive, 99));
    EXPECT_FALSE(places.take(RequestClass::Tenant, 99));
    for (const RequestClass kind : {RequestClass::Ordinary, RequestClass::Live, RequestClass::Panic,
                                    RequestClass::Watching}) {
        EXPECT_TRUE(places.take(kind, 100));
    }
    std::size_t all = 0;
    for (const Places::Bound& bound : Places::kBounds) {
        all += bound.all;
    }
    EXPECT_EQ(all, Places::kAll);
}

TEST(Places, OfViewersLeaveThoseOfWhoMayChangeSomething) {
    Places places;
    for (uid_t user = 1; user < 40; ++user) {
        (void)taken_by(places, viewer_class(RequestClass::Ordinary), user);
        (void)taken_by(places, viewer_class(RequestClass::Live), user);
    }
    EXPECT_FALSE(places.take(RequestClass::Viewer, 99));
    EXPECT_FALSE(places.take(RequestClass::ViewerLive, 99));
    EXPECT_EQ(taken_by(places, RequestClass::Ordinary, 100),
              Places::kBounds[static_cast<std::size_t>(RequestClass::Ordinary)].of_user);
    EXPECT_TRUE(places.take(RequestClass::Live, 100));
    EXPECT_EQ(viewer_class(RequestClass::Panic), RequestClass::Panic);
}

}  // namespace
}  // namespace sluice::places_test
