#include "dataplane/port/link_watch.hpp"

#include "dataplane/port/ports.hpp"
#include "tests/memory_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace sluice::link_watch_test {
namespace {

const Netdev kLoopback{1, "lo"};
// Its interface has another name by now, so that nothing can be done at it by this one.
const Netdev kRenamed{1, "was-lo"};

// A port that is not there, and not tried again.
void take_away(Port& port) {
    port.presence = Port::Presence::Away;
    port.next_try = LinkSettling::Clock::time_point::max();
}

TEST(ReleaseLinks, ASideThatDoesNotComeUpStaysHeldDown) {
    PortPair pair;
    pair.inside.netdev = kRenamed;
    pair.inside.held_down = true;
    release_links(pair);
    EXPECT_TRUE(pair.inside.held_down);
}

TEST(RestoreSettings, ASideThatIsHeldDownIsStillKept) {
    const std::optional<NetdevSettings> now = netdev_settings(kLoopback);
    ASSERT_TRUE(now.has_value());
    Port port{.netdev = kLoopback, .change = NetdevChange{.before = *now}, .held_down = true};
    restore_settings(port);
    EXPECT_TRUE(port.change.has_value());
    port.held_down = false;
    restore_settings(port);
    EXPECT_FALSE(port.change.has_value());
}

TEST(WatchLinks, WithoutFollowingASideWithCarrierIsHeldNoLonger) {
    QuiesceBoard board{1};
    PortPair pair;
    take_away(pair.outside);
    pair.inside.netdev = kLoopback;
    pair.inside.held_down = true;
    unsigned kept = 0;
    const KeepChanges keep = [&kept] { ++kept; };
    watch_links(pair, board, keep);
    EXPECT_TRUE(pair.inside.held_down) << "it follows the other side, which is down";
    pair.link_follow = false;
    watch_links(pair, board, keep);
    EXPECT_FALSE(pair.inside.held_down);
    EXPECT_EQ(kept, 1U);
    watch_links(pair, board, keep);
    EXPECT_TRUE(pair.inside.up.raised());
}

class HeldDownBefore : public testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directories(directory); }
    void TearDown() override { std::filesystem::remove_all(directory); }

    [[nodiscard]] std::vector<KeptPort> kept() const {
        const Result<std::vector<KeptPort>> ports = KeptPorts{directory}.load();
        EXPECT_TRUE(ports) << ports.error().what;
        return ports ? *ports : std::vector<KeptPort>{};
    }

    const std::string directory = test::memory_folder("link_watch");
    const std::vector<KeptPort> held{{kRenamed, {{.mtu = 1500, .promiscuous = false}, 1400}, true}};
};

TEST_F(HeldDownBefore, ASideThatDoesNotComeUpAtTheStartIsHeldAndKept) {
    ASSERT_TRUE(KeptPorts{directory}.save(held));
    BoxConfig box;
    box.pairs = {{.name = "lab",
                  .outside = {.device = "net_af_packet0,iface=lo"},
                  .inside = {.device = "net_null0"}}};
    {
        Ports ports{RssKeys::make(), directory};
        const Result<Done> done = ports.hold(box);
        ASSERT_TRUE(done) << done.error().what;
        EXPECT_TRUE(ports.pairs()[0]->outside.held_down);
        EXPECT_EQ(kept(), held);
    }
    EXPECT_EQ(kept(), held) << "after an ordered end too";
}

}  // namespace
}  // namespace sluice::link_watch_test
