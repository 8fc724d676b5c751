#include "dataplane/port/device.hpp"

#include "lib/base/device_text.hpp"
#include "tests/unit/dataplane/eal_once.hpp"

#include <gtest/gtest.h>

#include <rte_ethdev.h>

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

// While the first does not come up again, the second does, under its own number; then the first.
TEST(AttachDevice, ABareInterfaceIsToldHowItIsWritten) {
    const auto attached = attach_device("lo");
    ASSERT_FALSE(attached);
    EXPECT_NE(attached.error().what.find("write net_af_packet0,iface=lo"), std::string::npos)
        << attached.error().what;
}

TEST(AttachAgain, EachPortHasItsNumberAlsoWhileOthersAreAway) {
    test::start_eal_once();
    const std::string first = "net_null_first";
    const std::string second = "net_null_second";
    const auto first_number = attach_device(first);
    const auto second_number = attach_device(second);
    ASSERT_TRUE(first_number && second_number);
    ASSERT_LT(*first_number, *second_number);
    for (const std::uint16_t number : {*first_number, *second_number}) {
        ASSERT_EQ(rte_eth_dev_close(number), 0);
    }
    const std::string gone = first + ",bogus=1";  // what does not come up
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(attach_again(gone, *first_number));
        EXPECT_EQ(rte_eth_dev_close(*first_number), 0);  // as a port is stopped before each try
    }
    EXPECT_FALSE(attach_again(gone, *first_number));
    const Result<Done> second_again = attach_again(second, *second_number);
    EXPECT_TRUE(second_again) << second_again.error().what;
    const Result<Done> first_again = attach_again(first, *first_number);
    EXPECT_TRUE(first_again) << first_again.error().what;
    std::uint16_t number = 0;
    EXPECT_EQ(rte_eth_dev_get_port_by_name(first.c_str(), &number), 0);
    EXPECT_EQ(number, *first_number);
    detach_device(first);
    detach_device(second);
}

}  // namespace
}  // namespace sluice::device_test
