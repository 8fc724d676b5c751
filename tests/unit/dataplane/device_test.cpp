#include "dataplane/device.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(DeviceArgument, IsFoundByItsWholeName) {
    const std::string device = "net_memif0,role=server,id=0,socket=/run/m.sock,socket-abstract=no";
    EXPECT_EQ(device_argument(device, "role"), "server");
    EXPECT_EQ(device_argument(device, "socket"), "/run/m.sock");
    EXPECT_EQ(device_argument(device, "socket-abstract"), "no");
    EXPECT_EQ(device_argument(device, "sock"), "");
    EXPECT_EQ(device_argument("net_tap0", "iface"), "");
}

}  // namespace
}  // namespace sluice
