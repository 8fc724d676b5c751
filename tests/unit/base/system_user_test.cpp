#include "lib/base/system_user.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sluice::system_user_test {
namespace {

TEST(SystemUser, IsTheSameByNameAndByNumber) {
    const Result<SystemUser> root = user_named("root");
    ASSERT_TRUE(root);
    EXPECT_EQ(root->uid, 0U);
    const std::optional<SystemUser> same = user_of(0);
    ASSERT_TRUE(same);
    EXPECT_EQ(same->name, "root");
    EXPECT_EQ(same->gid, root->gid);
    EXPECT_EQ(*group_named("root"), root->gid);
}

TEST(SystemUser, WhoIsNotThereIsNamed) {
    EXPECT_EQ(user_named("no such user").error().what, "there is no user no such user");
    EXPECT_EQ(group_named("no such group").error().what, "there is no group no such group");
    EXPECT_FALSE(user_of(4'294'967'294U));
}

TEST(SystemUser, AllGroupsHoldTheFirst) {
    const std::vector<gid_t> groups = groups_of(*user_of(0), 4711);
    EXPECT_NE(std::find(groups.begin(), groups.end(), 4711U), groups.end());
}

}  // namespace
}  // namespace sluice::system_user_test
