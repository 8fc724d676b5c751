#include "dataplane/port/port.hpp"

#include <gtest/gtest.h>

namespace sluice::port_test {
namespace {

struct Row {
    std::string_view name;
    PortOffer outside;
    PortOffer inside;
    std::optional<unsigned> asked;
    std::size_t workers;
    std::uint16_t want;
};

TEST(ChooseQueues, NoMoreThanEitherPortOffers) {
    const PortOffer nic{.max_queues = 64, .has_rss = true};
    const PortOffer small{.max_queues = 2, .has_rss = true};
    const PortOffer tap{.max_queues = 16, .has_rss = false};
    const Row rows[] = {
        {"one for each worker", nic, nic, std::nullopt, 4, 4},
        {"as many as the smaller offers", nic, small, std::nullopt, 4, 2},
        {"one where flows cannot be spread", nic, tap, std::nullopt, 4, 1},
        {"unless asked for", tap, tap, 2, 4, 2},
        {"never more than workers", nic, nic, 8, 3, 3},
        {"never none", {.max_queues = 0}, nic, std::nullopt, 2, 1},
    };
    for (const Row& row : rows) {
        PairConfig pair;
        pair.outside.queues = row.asked;
        pair.inside.queues = row.asked;
        EXPECT_EQ(choose_queues(pair, row.outside, row.inside, row.workers), row.want) << row.name;
    }
}

TEST(HandsOver, WhereThePortDoesNotSpreadAsAsked) {
    Port port;
    EXPECT_FALSE(hands_over(port, 1)) << "there is nobody to hand frames to";
    EXPECT_TRUE(hands_over(port, 2)) << "no RSS";
    port.hashes = Rss::Source;
    EXPECT_FALSE(hands_over(port, 2));
    port.asked = Rss::Destination;
    EXPECT_FALSE(hands_over(port, 2)) << "it fell back to another input, and says so";
    port.asked = Rss::SourcePrefix;
    EXPECT_TRUE(hands_over(port, 2)) << "no port hashes prefixes";
}

TEST(ChooseMtu, OneForBothPorts) {
    const PortOffer small{.mtu = 1500};
    const PortOffer jumbo{.mtu = 9000};
    const PortOffer any;  // such as memif: frames of any length
    const auto chosen = [](const PortOffer& outside, const PortOffer& inside,
                           std::optional<std::uint16_t> asked) {
        PairConfig pair;
        pair.mtu = asked;
        return choose_mtu(pair, outside, inside);
    };
    EXPECT_EQ(chosen(small, small, std::nullopt), 1500);
    EXPECT_EQ(chosen(jumbo, jumbo, std::nullopt), 9000);
    EXPECT_EQ(chosen(small, jumbo, std::nullopt), 1500) << "frames would be lost on one side";
    EXPECT_EQ(chosen(jumbo, small, std::nullopt), 1500);
    EXPECT_EQ(chosen(small, jumbo, 4000), 4000);
    EXPECT_EQ(chosen(any, jumbo, std::nullopt), 9000);
    EXPECT_EQ(chosen(small, any, std::nullopt), 1500);
    EXPECT_EQ(chosen(any, any, std::nullopt), 1500);
    EXPECT_EQ(chosen(any, small, std::nullopt), 1500);
    const PortOffer raised{.mtu = 9000, .most_mtu = 1500};  // such as af_packet
    EXPECT_EQ(chosen(raised, raised, std::nullopt), 1500) << "it starts, with what it can carry";
    EXPECT_EQ(chosen(jumbo, raised, std::nullopt), 1500);
    EXPECT_EQ(chosen(raised, small, std::nullopt), 1500);
    EXPECT_EQ(chosen(raised, raised, 9000), 9000) << "which the port refuses";
}

// The interface is gone before the port has asked for its name.
TEST(NetdevBehind, KeepsTheNameOfOneThatVanishesMeanwhile) {
    constexpr unsigned kNobodys = 0x7fff'fff0;
    Port port{.device = "net_af_packet0,iface=sluice-gone,qpairs=1", .driver = "net_af_packet"};
    const Netdev netdev = netdev_behind(port, kNobodys);
    EXPECT_EQ(netdev.name, "sluice-gone");
    EXPECT_TRUE(netdev_is_gone(netdev));
    EXPECT_TRUE(netdev_is_gone(netdev_behind(port, 0)));
    EXPECT_EQ(netdev_behind(port, 1).name, "lo");
    port.device = "net_af_xdp0";
    port.driver = "net_af_xdp";
    port.netdev = {5, "before"};
    EXPECT_EQ(netdev_behind(port, kNobodys).name, "before");
    port.driver = "net_tap";
    EXPECT_EQ(netdev_behind(port, kNobodys).name, "");
}

}  // namespace
}  // namespace sluice::port_test
