#include "dataplane/xdp/left_behind.hpp"

#include <gtest/gtest.h>

namespace sluice::left_behind_test {
namespace {

// A dispatcher runs whatever loaders have given it: it is the sockets' own if nobody else has.
TEST(LeftBehind, ADispatcherIsTheSocketsOnlyWithNothingElseInIt) {
    EXPECT_EQ(owner_by_name("xsk_def_prog", {}), ProgramOwner::Sockets);
    EXPECT_EQ(owner_by_name("xdp_dispatcher", {"xsk_def_prog"}), ProgramOwner::Sockets);
    EXPECT_EQ(owner_by_name("xdp_dispatcher", {}), ProgramOwner::Other);
    EXPECT_EQ(owner_by_name("xdp_dispatcher", {"monitor"}), ProgramOwner::Other);
    EXPECT_EQ(owner_by_name("xdp_dispatcher", {"xsk_def_prog", "monitor"}), ProgramOwner::Other);
    EXPECT_EQ(owner_by_name("monitor", {"xsk_def_prog"}), ProgramOwner::Other);
    EXPECT_EQ(owner_by_name("", {}), ProgramOwner::Other);
}

}  // namespace
}  // namespace sluice::left_behind_test
