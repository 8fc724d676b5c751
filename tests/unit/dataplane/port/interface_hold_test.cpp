#include "dataplane/port/interface_hold.hpp"

#include "lib/base/device_text.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include <sched.h>
#include <unistd.h>

namespace sluice::interface_hold_test {
namespace {

// In a network namespace of its own, whose only interface is lo.
void in_own_namespace(const std::function<void()>& check) {
    bool may = false;
    std::thread{[&] {
        may = ::unshare(CLONE_NEWNET) == 0;
        if (may) {
            check();
        }
    }}.join();
    if (!may) {
        GTEST_SKIP() << "needs the right to make a network namespace";
    }
}

TEST(InterfacesOf, AllThatADeviceIsToldToUse) {
    using Names = std::vector<std::string>;
    EXPECT_EQ(interfaces_of("net_af_packet0,iface=o,qpairs=1"), Names{"o"});
    EXPECT_EQ(interfaces_of("net_pcap0,rx_iface=o,tx_iface=i"), (Names{"o", "i"}));
    EXPECT_EQ(interfaces_of("net_pcap0,rx_iface=o,tx_iface=o"), Names{"o"});
    EXPECT_EQ(interfaces_of("0000:3b:00.0"), Names{});
}

TEST(InterfaceHold, OneAtATime) {
    in_own_namespace([] {
        {
            const auto first = InterfaceHold::take("lo");
            ASSERT_TRUE(first.has_value()) << first.error().what;
            const auto second = InterfaceHold::take("lo");
            ASSERT_FALSE(second.has_value());
            EXPECT_NE(second.error().what.find("is a port of this box already"), std::string::npos);
            EXPECT_FALSE(hold_interfaces("net_af_packet0,iface=lo").has_value());
        }
        EXPECT_TRUE(InterfaceHold::take("lo").has_value()) << "the first has ended";
    });
}

TEST(InterfaceHold, AnotherNamespaceHasAnotherInterface) {
    in_own_namespace([] {
        const auto here = InterfaceHold::take("lo");
        ASSERT_TRUE(here.has_value());
        in_own_namespace([] { EXPECT_TRUE(InterfaceHold::take("lo").has_value()); });
    });
}

TEST(InterfaceHold, WhatIsNotThereIsHeldByNobody) {
    in_own_namespace([] {
        EXPECT_TRUE(InterfaceHold::take("absent").has_value());
        EXPECT_TRUE(InterfaceHold::take("absent").has_value());
    });
}

}  // namespace
}  // namespace sluice::interface_hold_test
