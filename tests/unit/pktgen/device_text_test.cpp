#include "tests/pktgen/device_text.hpp"

#include <gtest/gtest.h>

namespace sluice::pktgen::device_text_test {
namespace {

TEST(DeviceText, APciAddressIsOneWithArgumentsToo) {
    for (const char* device :
         {"0000:3b:00.0", "3b:00.0", "0000:3b:00.0,dv_flow_en=1", "3B:00.1,a=b,c=d:e"}) {
        EXPECT_TRUE(is_pci(device)) << device;
    }
    for (const char* device :
         {"net_ring0", "net_null0,no-rx=1", "net_virtio_user0,path=/tmp/a:b.sock",
          "net_memif0,mac=02:00:00:00:00:01", "", ","}) {
        EXPECT_FALSE(is_pci(device)) << device;
    }
}

TEST(DeviceText, APortHasItsDomainAndNoArguments) {
    EXPECT_EQ(port_name("3b:00.0"), "0000:3b:00.0");
    EXPECT_EQ(port_name("3b:00.0,dv_flow_en=1"), "0000:3b:00.0");
    EXPECT_EQ(port_name("0000:3b:00.0,dv_flow_en=1"), "0000:3b:00.0");
    EXPECT_EQ(port_name("net_null0,no-rx=1"), "net_null0");
}

}  // namespace
}  // namespace sluice::pktgen::device_text_test
