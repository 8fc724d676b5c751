#include "dataplane/port/mtu_watch.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::mtu_watch_test {
namespace {

const Netdev kLoopback{1, "lo"};

TEST(WatchMtus, TheMtuOfTheInterfaceIsTakenAndWhatItWasStartedForStays) {
    const std::optional<std::uint16_t> now = netdev_mtu(kLoopback);
    ASSERT_TRUE(now.has_value());
    PortPair pair;
    Port& port = pair.inside;
    port.netdev = kLoopback;
    port.has_mtu = true;
    port.plan.mtu = 1500;
    take_mtu(port, 1500);
    testing::internal::CaptureStderr();
    watch_mtus(pair);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(port.mtu, *now);
    EXPECT_EQ(port.untagged.read(), 14U + *now);
    EXPECT_EQ(port.plan.mtu, 1500);
    EXPECT_NE(said.find("but the pair was started for 1500: longer packets may be lost"),
              std::string::npos)
        << said;
}

}  // namespace
}  // namespace sluice::mtu_watch_test
