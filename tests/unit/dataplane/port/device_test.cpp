#include "dataplane/port/device.hpp"

#include <gtest/gtest.h>

namespace sluice::device_test {
namespace {

TEST(DeviceArgument, IsFoundByItsWholeName) {
    const std::string device = "net_memif0,role=server,id=0,socket=/run/m.sock,socket-abstract=no";
    EXPECT_EQ(device_argument(device, "role"), "server");
    EXPECT_EQ(device_argument(device, "socket"), "/run/m.sock");
    EXPECT_EQ(device_argument(device, "socket-abstract"), "no");
    EXPECT_EQ(device_argument(device, "sock"), "");
    EXPECT_EQ(device_argument("net_tap0", "iface"), "");
}

TEST(DeviceName, IsHowDpdkCallsIt) {
    EXPECT_EQ(device_name("net_tap0,iface=a:b"), "net_tap0");
    EXPECT_EQ(device_name("0000:3b:00.0"), "0000:3b:00.0");
    EXPECT_EQ(device_name("3b:00.0,representor=0"), "0000:3b:00.0");
}

}  // namespace
}  // namespace sluice::device_test
