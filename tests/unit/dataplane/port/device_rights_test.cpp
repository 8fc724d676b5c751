#include "dataplane/port/device_rights.hpp"

#include <gtest/gtest.h>

#include <linux/capability.h>

namespace sluice::device_rights_test {
namespace {

constexpr std::uint64_t bit(unsigned capability) {
    return std::uint64_t{1} << capability;
}

TEST(DeviceRights, NamesWhatADeviceLacks) {
    const std::uint64_t network = bit(CAP_NET_RAW) | bit(CAP_NET_ADMIN);
    EXPECT_EQ(missing_capabilities("net_af_packet0,iface=eth0", 0), "CAP_NET_RAW, CAP_NET_ADMIN");
    EXPECT_EQ(missing_capabilities("net_af_packet0,iface=eth0", bit(CAP_NET_ADMIN)), "CAP_NET_RAW");
    EXPECT_EQ(missing_capabilities("net_af_packet0,iface=eth0", network), "");
    EXPECT_EQ(missing_capabilities("net_af_xdp1,iface=eth0", network), "CAP_BPF, CAP_SYS_ADMIN");
    EXPECT_EQ(missing_capabilities("net_tap0", bit(CAP_NET_RAW)), "CAP_NET_ADMIN");
    EXPECT_EQ(missing_capabilities("net_null0", 0), "");
    EXPECT_EQ(missing_capabilities("0000:3b:00.0", 0), "");
}

TEST(DeviceRights, AProcessKnowsItsOwn) {
    // Whoever runs tests has all of them, or none.
    const std::uint64_t own = effective_capabilities();
    EXPECT_EQ(missing_capabilities("net_tap0", own).empty(), (own & bit(CAP_NET_ADMIN)) != 0);
}

}  // namespace
}  // namespace sluice::device_rights_test
