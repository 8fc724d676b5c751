#include "control/cli/pair_state.hpp"

#include "dataplane/xdp/pair_state.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace sluice::pair_state_test {
namespace {

// `xdp status` reads the map of a program whose box is not there to tell of it.
TEST(PairState, IsTheBeginningOfWhatTheProgramHas) {
    static_assert(PairState::kLayout == SLUICE_PAIR_LAYOUT);
    EXPECT_EQ(offsetof(PairState, layout), offsetof(sluice_pair_state, layout));
    EXPECT_EQ(offsetof(PairState, beat), offsetof(sluice_pair_state, beat));
    EXPECT_EQ(offsetof(PairState, heartbeat), offsetof(sluice_pair_state, heartbeat));
    EXPECT_EQ(offsetof(PairState, fail_open), offsetof(sluice_pair_state, fail_open));
}

}  // namespace
}  // namespace sluice::pair_state_test
