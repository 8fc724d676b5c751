#include "control/cli/box_arguments.hpp"

#include <gtest/gtest.h>

namespace sluice::box_arguments_test {
namespace {

using Arguments = std::vector<std::string>;

TEST(BoxArguments, LeaveOutWhatTheBoxLeavesOpen) {
    Box box;
    box.pairs.push_back({.name = "uplink",
                         .outside = {.device = "net_tap0,iface=a"},
                         .inside = {.device = "net_tap1,iface=b"},
                         .mtu = std::nullopt});
    EXPECT_EQ(*box_arguments(box), (Arguments{"--pair",           "uplink",
                                              "--outside",        "net_tap0,iface=a",
                                              "--inside",         "net_tap1,iface=b",
                                              "--rss-outside",    "source",
                                              "--rss-inside",     "source",
                                              "--hugepages",      "auto",
                                              "--table-keys",     std::to_string(box.table_keys),
                                              "--malformed",      "drop",
                                              "--socket",         box.dataplane.path,
                                              "--socket-mode",    "0660",
                                              "--state-dir",      box.state_dir,
                                              "--watchdog-stall", "1000",
                                              "--log-level",      "info"}));
}

TEST(BoxArguments, SayEverythingThatIsGiven) {
    Box box;
    box.pairs.push_back({.name = "lab",
                         .outside = {.device = "0000:3b:00.0", .queues = 4, .rss = "five_tuple"},
                         .inside = {.device = "0000:3b:00.1", .queues = 2, .rss = "destination"},
                         .mtu = 9'000,
                         .link_follow = false,
                         .hand_over = false});
    box.lcores = "2@1,3@1";
    box.hugepages = "required";
    box.mbufs = 262'144;
    box.table_keys = 4'000'000;
    box.malformed = "pass";
    box.tunnel_gre = box.tunnel_ipip = true;
    box.dataplane = {"/tmp/d.sock", 0600, "root", "sluice"};
    box.state_dir = "/tmp/state";
    box.snapshot_file = "/tmp/snapshot";
    box.snapshot_every = std::chrono::seconds{3};
    box.watchdog_stall = std::chrono::milliseconds{250};
    box.merge_interval = std::chrono::microseconds{500};
    box.log_level = "debug";
    EXPECT_EQ(*box_arguments(box), (Arguments{"--pair",
                                              "lab",
                                              "--outside",
                                              "0000:3b:00.0",
                                              "--inside",
                                              "0000:3b:00.1",
                                              "--mtu",
                                              "9000",
                                              "--queues-outside",
                                              "4",
                                              "--rss-outside",
                                              "five_tuple",
                                              "--queues-inside",
                                              "2",
                                              "--rss-inside",
                                              "destination",
                                              "--no-link-follow",
                                              "--no-hand-over",
                                              "--lcores",
                                              "2@1,3@1",
                                              "--hugepages",
                                              "required",
                                              "--mbufs",
                                              "262144",
                                              "--table-keys",
                                              "4000000",
                                              "--malformed",
                                              "pass",
                                              "--tunnels",
                                              "gre,ipip",
                                              "--socket",
                                              "/tmp/d.sock",
                                              "--socket-mode",
                                              "0600",
                                              "--socket-owner",
                                              "root",
                                              "--socket-group",
                                              "sluice",
                                              "--state-dir",
                                              "/tmp/state",
                                              "--snapshot-file",
                                              "/tmp/snapshot",
                                              "--snapshot-every",
                                              "3000",
                                              "--watchdog-stall",
                                              "250",
                                              "--merge-interval",
                                              "500",
                                              "--log-level",
                                              "debug"}));
}

// One argument stands on one line.
TEST(BoxArguments, RefuseLineBreaks) {
    Box box;
    box.state_dir = "/tmp/a\n--malformed";
    EXPECT_FALSE(box_arguments(box));
}

}  // namespace
}  // namespace sluice::box_arguments_test
