#include "control/store/store_member.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace sluice {
namespace {

TEST(StoreMember, DiffersFromItsClusterBySizeOrSecretUntilItHasJoined) {
    const std::pair<JoinOutcome, bool> cases[] = {
        {JoinOutcome::OtherSize, true}, {JoinOutcome::OtherSecret, true},
        {JoinOutcome::Full, false},     {JoinOutcome::NameHeld, false},
        {JoinOutcome::Joined, false},
    };
    StoreMember member{{.cluster = "lab", .node = "a", .size = 3}};
    for (const auto& [outcome, differs] : cases) {
        member.take({.outcome = outcome, .size = 3});
        EXPECT_EQ(member.differs(), differs) << static_cast<int>(outcome);
    }
    EXPECT_TRUE(member.fenced({.last = 3}));
    EXPECT_FALSE(member.differs()) << "another box has its slot";
    EXPECT_FALSE(member.fenced({.last = 4}));
    EXPECT_TRUE(member.differs()) << "the cluster has another size";
}

}  // namespace
}  // namespace sluice
