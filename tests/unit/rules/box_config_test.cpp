#include "lib/rules/box_config.hpp"

#include <gtest/gtest.h>

namespace sluice::box_config_test {
namespace {

using namespace std::chrono_literals;

BoxConfig with_pair() {
    BoxConfig box;
    box.pairs.push_back({.name = "lab", .outside = {"net_null0,size=64"}, .inside = {"net_null1"}});
    return box;
}

TEST(FindFault, NothingInWhatABoxStartsBy) {
    EXPECT_EQ(find_fault(BoxConfig{}), std::nullopt);
    EXPECT_EQ(find_fault(with_pair()), std::nullopt);
}

TEST(FindFault, NamesTheFirstValueOutOfRange) {
    struct Row {
        std::string_view says;
        void (*spoil)(BoxConfig&);
    };
    const Row rows[] = {
        {"needs a name", [](BoxConfig& b) { b.pairs[0].name = ""; }},
        {"have the name lab",
         [](BoxConfig& b) {
             b.pairs.push_back({.name = "lab", .outside = {"x"}, .inside = {"y"}});
         }},
        {"pair lab needs a device", [](BoxConfig& b) { b.pairs[0].inside.device = ""; }},
        {"device net_null0 is given twice",
         [](BoxConfig& b) { b.pairs[0].inside.device = "net_null0"; }},
        {"queues is from 1 to 64", [](BoxConfig& b) { b.pairs[0].inside.queues = 65; }},
        {"queues is from 1 to 64", [](BoxConfig& b) { b.pairs[0].outside.queues = 0; }},
        {"mtu is from 68 to 65535", [](BoxConfig& b) { b.pairs[0].mtu = 67; }},
        {"more than 16 port pairs", [](BoxConfig& b) { b.pairs.resize(17); }},
        {"ports.name contains a zero byte",
         [](BoxConfig& b) { b.pairs[0].name = std::string("l\0b", 3); }},
        {"device is longer than 4096",
         [](BoxConfig& b) { b.pairs[0].outside.device = std::string(4097, 'x'); }},
        {"lcores is longer", [](BoxConfig& b) { b.lcores = std::string(4097, '1'); }},
        {"state directory needs a path", [](BoxConfig& b) { b.state_dir = ""; }},
        {"state_dir contains a zero byte", [](BoxConfig& b) { b.state_dir.push_back('\0'); }},
        {"memory.tables.snapshot.file contains",
         [](BoxConfig& b) { b.snapshot_file.push_back('\0'); }},
        {"rules contains", [](BoxConfig& b) { b.rules.push_back('\0'); }},
        {"stall is from", [](BoxConfig& b) { b.watchdog_stall = 999us; }},
        {"stall is from", [](BoxConfig& b) { b.watchdog_stall = 1h + 1ns; }},
        {"idle_sleep is from 0", [](BoxConfig& b) { b.idle_sleep = -1ns; }},
        {"idle_sleep is from 0", [](BoxConfig& b) { b.idle_sleep = 101ms; }},
        {"merge.interval is from", [](BoxConfig& b) { b.merge_interval = 9us; }},
        {"every is from", [](BoxConfig& b) { b.snapshot_every = 99ms; }},
        {"mbufs is from 512", [](BoxConfig& b) { b.mbufs = 511; }},
        {"keys is from 1", [](BoxConfig& b) { b.table_keys = 0; }},
        {"packets.connections.max is from 1024",
         [](BoxConfig& b) { b.units.connections.max = 1023; }},
        {"head_bytes is from 256 to 60000",
         [](BoxConfig& b) { b.units.connections.head_bytes = 60'001; }},
        {"packets.connections.timeout is from",
         [](BoxConfig& b) { b.units.connections.timeout = 10min + 1ns; }},
        {"packets.fragments.table is from 1024", [](BoxConfig& b) { b.units.fragments.table = 0; }},
        {"packets.fragments.timeout is from",
         [](BoxConfig& b) { b.units.fragments.timeout = -1ns; }},
        {"packets.quic_initials.budget is from 1 to 100",
         [](BoxConfig& b) { b.units.quic_initials_percent = 101; }},
        {"heartbeat is from 5000000",
         [](BoxConfig& b) { b.kernel = KernelOptions{.heartbeat = 4ms}; }},
        {"heartbeat is from", [](BoxConfig& b) { b.kernel = KernelOptions{.heartbeat = 61s}; }},
        {"heartbeat is at least 4 times idle_sleep",
         [](BoxConfig& b) {
             b.idle_sleep = 26ms;
             b.kernel = KernelOptions{};
         }},
        {"path from the root", [](BoxConfig& b) { b.kernel = KernelOptions{.pins = "bpf"}; }},
        {"early_drop is from 1",
         [](BoxConfig& b) { b.kernel = KernelOptions{.early_drop = (1U << 20) + 1}; }},
        {"is for ports of `kernel`",
         [](BoxConfig& b) { b.management = ManagementOptions{.allow = {{6, 22}}, .to = {{}}}; }},
        {"have 1 to 64 items",
         [](BoxConfig& b) {
             b.kernel = KernelOptions{};
             b.management = ManagementOptions{.allow = {{6, 22}}};
         }},
        {"management.rate is from 1",
         [](BoxConfig& b) {
             b.kernel = KernelOptions{};
             b.management = ManagementOptions{.allow = {{6, 22}}, .to = {{}}, .rate = 0};
         }},
        {"pins contains",
         [](BoxConfig& b) { b.kernel = KernelOptions{.pins = std::string("/\0", 2)}; }},
        {"socket needs a path", [](BoxConfig& b) { b.dataplane.path = ""; }},
        {"at most 0777", [](BoxConfig& b) { b.control.mode = 01000; }},
        {"root and its owner alone", [](BoxConfig& b) { b.dataplane.mode = 0640; }},
        {"sockets.control.owner contains", [](BoxConfig& b) { b.control.owner.push_back('\0'); }},
        {"sockets.dataplane.group is longer",
         [](BoxConfig& b) { b.dataplane.group = std::string(4097, 'g'); }},
    };
    for (const Row& row : rows) {
        BoxConfig box = with_pair();
        row.spoil(box);
        EXPECT_NE(find_fault(box).value_or("nothing").find(row.says), std::string::npos)
            << row.says << ": " << find_fault(box).value_or("nothing");
    }
}

TEST(FindFault, BothEndsOfARangeAreInIt) {
    BoxConfig box = with_pair();
    box.pairs[0].mtu = 68;
    box.pairs[0].outside.queues = 64;
    box.watchdog_stall = 1h;
    box.idle_sleep = 100ms;
    box.merge_interval = 10us;
    box.snapshot_every = 100ms;
    box.mbufs = 512;
    box.table_keys = 1;
    box.state_dir = std::string(4096, 'd');
    box.dataplane.mode = 0700;
    EXPECT_EQ(find_fault(box), std::nullopt);
}

}  // namespace
}  // namespace sluice::box_config_test
