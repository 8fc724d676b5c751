#include "control/cli/ports_text.hpp"

#include <gtest/gtest.h>

namespace sluice::ports_text_test {
namespace {

Json ports(std::uint64_t packets, std::uint64_t bytes, std::uint64_t full) {
    return {{"ports",
             {{{"pair", "uplink"},
               {"side", "outside"},
               {"device", "net_tap0"},
               {"link_up", true},
               {"held_down", false},
               {"gone", false},
               {"mtu", 1500},
               {"rx_queues", 1},
               {"hashes", "source"},
               {"handed_over", false},
               {"rx_packets", packets},
               {"rx_bytes", bytes},
               {"tx_packets", 0},
               {"tx_bytes", 0},
               {"rx_missed", 0},
               {"rx_no_mbuf", 0},
               {"rx_errors", 0},
               {"tx_errors", 0},
               {"tx_full", full}}}}};
}

TEST(PortsText, ShowsBytesBesidePackets) {
    const std::string text = ports_text(ports(1'234'567, 150'000'000, 8));
    EXPECT_NE(text.find("RX BYTES"), std::string::npos) << text;
    EXPECT_NE(text.find("150 MB"), std::string::npos) << text;
}

TEST(PortsText, RatesAreOverTheTimeThatPassed) {
    const Json before = ports(1'000, 64'000, 2);
    const Json now = ports(4'000, 256'000, 8);
    EXPECT_EQ(port_rates_text({now, &before, 1.5}),
              "PAIR    SIDE     LINK  RX PACKETS/S     RX BIT/S  TX PACKETS/S  TX BIT/S  RX BYTES"
              "  TX BYTES\n"
              "uplink  outside  up           2,000  1.02 Mbit/s             0   0 bit/s    256 kB"
              "       0 B\n"
              "\n"
              "PAIR    SIDE     LOST                 FRAMES  /S\n"
              "uplink  outside  transmit queue full       8   4\n");
}

TEST(PortsText, SaysThatNothingWasLost) {
    const Json now = ports(4'000, 256'000, 0);
    EXPECT_NE(port_rates_text({now}).find("no port has lost a frame\n"), std::string::npos);
}

TEST(PortsText, ShowsWhatAPortWithAGreaterMtuWasSetUpFor) {
    Json raised = ports(0, 0, 0);
    Json& port = raised["ports"][0];
    port["mtu"] = 9000;
    port["set_mtu"] = 1500;
    EXPECT_NE(ports_text(raised).find("  9,000, set up for 1,500  "), std::string::npos);
    port["set_mtu"] = 9000;
    EXPECT_EQ(ports_text(raised).find("set up for"), std::string::npos);
    port["set_mtu"] = 0;  // it has none
    EXPECT_EQ(ports_text(raised).find("set up for"), std::string::npos);
}

// A dataplane that was started again counts from zero.
TEST(PortsText, ShowsNoRateOfACounterThatFell) {
    const Json before = ports(4'000, 256'000, 8);
    const Json now = ports(1'000, 64'000, 2);
    const std::string text = port_rates_text({now, &before, 1});
    EXPECT_NE(text.find("uplink  outside  transmit queue full       2\n"), std::string::npos)
        << text;
}

}  // namespace
}  // namespace sluice::ports_text_test
