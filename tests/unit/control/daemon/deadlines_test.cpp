#include "control/daemon/deadlines.hpp"

#include "lib/wire/fd.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>

namespace sluice::deadlines_test {
namespace {

using namespace std::chrono_literals;

struct Ends {
    Ends() {
        int fds[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
        ours = Fd{fds[0]};
        theirs = Fd{fds[1]};
    }
    [[nodiscard]] bool open() const {
        char byte = 0;
        return ::recv(theirs.get(), &byte, 1, 0) < 0;  // would block; 0 after a shutdown
    }
    Fd ours;
    Fd theirs;
};

TEST(Deadlines, CloseWhoOwesTooLong) {
    const Deadlines::Clock::time_point start{};
    Deadlines deadlines{20s};
    const Ends slow;
    const Ends quick;
    const Ends renewed;
    for (const Ends* each : {&slow, &quick, &renewed}) {
        deadlines.start(each->ours.get(), start);
    }
    deadlines.stop(quick.ours.get());
    deadlines.start(renewed.ours.get(), start + 1s);
    deadlines.sweep(start + 20s - 1ns);
    EXPECT_TRUE(slow.open() && quick.open() && renewed.open());
    deadlines.sweep(start + 20s);
    EXPECT_FALSE(slow.open());
    EXPECT_TRUE(quick.open() && renewed.open());
    deadlines.sweep(start + 21s);
    EXPECT_FALSE(renewed.open());
    EXPECT_TRUE(quick.open());
}

TEST(Deadlines, OneMayHaveLessTimeThanOthers) {
    const Deadlines::Clock::time_point start{};
    Deadlines deadlines{20s};
    const Ends stranger;
    const Ends other;
    deadlines.start(other.ours.get(), start);
    deadlines.start(stranger.ours.get(), start, 5s);
    deadlines.sweep(start + 5s);
    EXPECT_FALSE(stranger.open());
    EXPECT_TRUE(other.open());
}

}  // namespace
}  // namespace sluice::deadlines_test
