#include "lib/l7/proxy/proxy_clients.hpp"

#include "lib/l7/proxy/proxy_headers.hpp"
#include "lib/l7/stream/unit_parser.hpp"
#include "tests/guarded_memory.hpp"
#include "tests/unit/l7/hello_maker.hpp"
#include "tests/unit/l7/stream/unit_probe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace sluice::proxy_clients_test {
namespace {

using namespace std::chrono_literals;

constexpr Instant kNow{1h};

VersionedAddress address(std::uint64_t number) {
    return parse_address("10.0." + std::to_string(number / 256) + "." +
                         std::to_string(number % 256))
        .value();
}
// A digest; no two have the same rows but by chance.
std::uint64_t digest(std::uint64_t number) {
    return (number + 1) * 0x9E37'79B9'7F4A'7C15U;
}

TEST(ProxyClients, AreRememberedByConnection) {
    ProxyClients clients{1024};
    EXPECT_EQ(clients.find(digest(1), kNow), VersionedAddress{});
    for (std::uint64_t i = 0; i < 1024; ++i) {
        EXPECT_TRUE(clients.add(digest(i), address(i), kNow)) << "there is room for all";
    }
    for (std::uint64_t i = 0; i < 1024; ++i) {
        EXPECT_EQ(clients.find(digest(i), kNow), address(i));
    }
    EXPECT_EQ(clients.find(digest(1024), kNow), VersionedAddress{});
    EXPECT_TRUE(clients.add(digest(7), address(8), kNow));
    EXPECT_EQ(clients.find(digest(7), kNow), address(8));
}

// The headers of connections that all have the places of one row, and what their segments say.
class OneRow {
public:
    bool begin(std::uint64_t connection) {
        const std::string header = "PROXY TCP4 198.51.100.1 192.0.2.1 5000 80\r\n";
        ServicePacket packet = of(connection);
        UnitSink sink{units_, 0, packet};
        return headers_.read(bytes_of(header), source(packet), sink).what ==
               StreamReading::What::Skip;
    }
    void fin(std::uint64_t connection, std::uint32_t at, std::uint32_t acknowledged) {
        ServicePacket packet = of(connection);
        packet.client_ends = true;
        packet.client_fin = at;
        packet.acknowledged = acknowledged;
        UnitSink sink{units_, 0, packet};
        (void)headers_.note_client({}, source(packet), sink);
    }

private:
    static ServicePacket of(std::uint64_t connection) {
        return {.service = test::enforced_service(ServiceProtocol::Http),
                .connection = connection << 8 | connection << 40};
    }
    UnitSource source(const ServicePacket& packet) {
        return {.headers = packet_,
                .frame = {},
                .wanted = {},
                .counted = {},
                .requests = requests_,
                .hash = hash_,
                .now = kNow,
                .service = packet};
    }

    ProxyHeaders headers_{1};
    PacketHeaders packet_;
    RequestTexts requests_;
    KeyHasher hash_{HashSecret{1, 2}};
    UnitParser parser_{test::small_unit_budget()};
    FoundUnits units_;
};

// A FIN that came ahead of requests makes no room, until the server has all that lies before it.
TEST(ProxyClients, StayBehindAFinUntilAllBeforeItHasArrived) {
    OneRow row;
    std::uint64_t places = 1;
    while (row.begin(places)) {
        ++places;
    }
    ASSERT_GT(places, 1U);
    row.fin(1, 500, 400);
    EXPECT_FALSE(row.begin(places));
    row.fin(1, 500, 500);
    EXPECT_TRUE(row.begin(places));
    EXPECT_FALSE(row.begin(places + 1)) << "one place, no more";
}

TEST(ProxyClients, OfNoConnectionAreNone) {
    ProxyClients clients{16};
    EXPECT_FALSE(clients.add(0, address(1), kNow));
    EXPECT_EQ(clients.find(0, kNow), VersionedAddress{});
}

// So many more than there is room for that all rows are full.
class FullProxyClients : public testing::Test {
protected:
    FullProxyClients() {
        for (std::uint64_t i = 0; i < 1000; ++i) {
            const bool is_kept = clients.add(digest(i), address(i), kNow);
            (is_kept ? kept : refused).push_back(digest(i));
        }
    }
    [[nodiscard]] bool add_one_more(Instant now) {
        return clients.add(digest(5000), address(5000), now);
    }

    ProxyClients clients{64};
    std::vector<std::uint64_t> kept;
    std::vector<std::uint64_t> refused;
};

TEST_F(FullProxyClients, ForgetNobodyWhoLives) {
    EXPECT_EQ(kept.size(), 128U);
    EXPECT_FALSE(add_one_more(kNow + 90s)) << "a server keeps a silent connection for so long";
    for (const std::uint64_t connection : kept) {
        EXPECT_NE(clients.find(connection, kNow), VersionedAddress{});
    }
    for (const std::uint64_t connection : refused) {
        EXPECT_EQ(clients.find(connection, kNow), VersionedAddress{});
    }
}

TEST_F(FullProxyClients, MakeRoomByWhoIsSilent) {
    const std::uint64_t silent = kept[60];
    for (const std::uint64_t connection : kept) {
        if (connection != silent) {
            (void)clients.find(connection, kNow + 60s);
        }
    }
    std::size_t added = 0;
    for (std::uint64_t i = 2000; i < 2200; ++i) {
        added += clients.add(digest(i), address(i), kNow + 100s) ? 1 : 0;
    }
    EXPECT_EQ(added, 1U);
    EXPECT_EQ(clients.find(silent, kNow + 100s), VersionedAddress{});
    EXPECT_NE(clients.find(kept[61], kNow + 100s), VersionedAddress{});
}

TEST_F(FullProxyClients, MakeRoomByWhoHasEnded) {
    clients.end(kept[60]);
    EXPECT_NE(clients.find(kept[60], kNow), VersionedAddress{}) << "until somebody needs it";
    std::size_t added = 0;
    for (std::uint64_t i = 2000; i < 2200; ++i) {
        added += clients.add(digest(i), address(i), kNow) ? 1 : 0;
    }
    EXPECT_EQ(added, 1U);
}

// Clients of at least 64 connections, in memory that outlives the process.
struct KeptRegion {
    static constexpr std::size_t kConnections = 64;
    test::GuardedMemory memory{ProxyClients::kept_of(kConnections)};

    [[nodiscard]] ProxyClients process() const {
        KeptMemory kept{memory.base(), ProxyClients::kept_of(kConnections), 4096};
        ProxyClients clients{kConnections, kept};
        clients.take_over();
        return clients;
    }
};

TEST(KeptProxyClients, AreKnownToTheNextProcess) {
    const KeptRegion region;
    {
        ProxyClients first = region.process();
        ASSERT_TRUE(first.add(digest(1), address(1), kNow));
        ASSERT_TRUE(first.add(digest(2), parse_address("2001:db8::7").value(), kNow));
        first.end(digest(1));
    }
    ProxyClients next = region.process();
    EXPECT_EQ(next.find(digest(1), kNow), address(1));
    EXPECT_EQ(next.find(digest(2), kNow), parse_address("2001:db8::7").value());
    EXPECT_EQ(next.find(digest(3), kNow), VersionedAddress{});
}

// Who is silent makes room for others, who has ended first: also of an earlier process.
TEST(KeptProxyClients, MakeRoomAsTheyDidBefore) {
    const KeptRegion region;
    std::vector<std::uint64_t> kept;
    {
        ProxyClients first = region.process();
        for (std::uint64_t i = 0; i < 1000; ++i) {
            if (first.add(digest(i), address(i), kNow)) {
                kept.push_back(i);
            }
        }
        first.end(digest(kept[60]));
    }
    ProxyClients next = region.process();
    std::size_t added = 0;
    for (std::uint64_t i = 2000; i < 2200; ++i) {
        added += next.add(digest(i), address(i), kNow + std::chrono::seconds{60}) ? 1 : 0;
    }
    EXPECT_EQ(added, 1U);
    EXPECT_EQ(next.find(digest(kept[60]), kNow), VersionedAddress{});
    EXPECT_EQ(next.find(digest(kept[61]), kNow), address(kept[61]));
}

// A kill before any store of a change leaves each client as it was before it or behind it, and no
// connection another one's.
TEST(KeptProxyClients, AKillAtAnyStoreLeavesTheOldOrTheNew) {
    KeptRegion region;
    KeptRegion other;
    ProxyClients clients = region.process();
    std::vector<std::uint64_t> kept;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        if (clients.add(digest(i), address(i), kNow)) {
            kept.push_back(i);
        }
    }
    const std::uint64_t gone = kept[60];
    clients.end(digest(gone));
    std::uint64_t comes = 2000;
    for (KeptRegion probe; comes < 2200; ++comes) {
        probe.memory.copy_from(region.memory);
        if (probe.process().add(digest(comes), address(comes), kNow)) {
            break;
        }
    }
    ASSERT_LT(comes, 2200U);
    std::size_t instants = 0;
    std::size_t old = 0;
    const auto killed = [&] {
        other.memory.copy_from(region.memory);
        ProxyClients next = other.process();
        ++instants;
        const VersionedAddress new_one = next.find(digest(comes), kNow);
        const bool is_old = new_one == VersionedAddress{};
        old += is_old ? 1 : 0;
        EXPECT_EQ(new_one, is_old ? VersionedAddress{} : address(comes)) << instants;
        EXPECT_EQ(next.find(digest(gone), kNow), is_old ? address(gone) : VersionedAddress{})
            << instants;
        EXPECT_EQ(next.find(digest(kept[61]), kNow), address(kept[61])) << instants;
    };
    region.memory.run_guarded(
        [&] { EXPECT_TRUE(clients.add(digest(comes), address(comes), kNow)); }, killed);
    killed();
    EXPECT_GT(instants, 5U);
    EXPECT_GT(old, 3U);
    EXPECT_LT(old, instants);
}

TEST(KeptProxyClients, OfAnyContentAreTakenOver) {
    std::mt19937_64 random{31};
    for (int round = 0; round < 20; ++round) {
        const KeptRegion region;
        auto* const bytes = static_cast<std::uint8_t*>(region.memory.base());
        std::generate_n(bytes, ProxyClients::kept_of(KeptRegion::kConnections),
                        [&] { return static_cast<std::uint8_t>(random() % 8); });
        ProxyClients clients = region.process();
        for (std::uint64_t i = 0; i < 200; ++i) {
            (void)clients.add(digest(i), address(i), kNow);
            const VersionedAddress found = clients.find(digest(i), kNow);
            EXPECT_TRUE(found == VersionedAddress{} || found == address(i));
            clients.end(digest(i));
        }
    }
}

// A header whose client has no room.
class HeadersWithoutRoom : public testing::Test {
protected:
    test::ProbedPacket last_of_many() {
        probe.proxied_from = 1000;
        const std::string text =
            "PROXY TCP4 192.0.2.9 192.0.2.8 1 2\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n";
        test::ProbedPacket last;
        for (std::uint16_t port = 1; port <= 1000 && last.events.count("proxy_header_no_room") == 0;
             ++port) {
            last = probe.take(test::segment(1000, test::octets_of(text), 80, port), kNow);
            EXPECT_EQ(last.events["proxy_header"], 1U);
        }
        return last;
    }

    UnitParser parser{test::small_unit_budget()};
    test::UnitProbe probe{parser.finder()};
};

TEST_F(HeadersWithoutRoom, AreRefusedByAnEnforcedService) {
    probe.service = test::enforced_service(ServiceProtocol::Http);
    const test::ProbedPacket last = last_of_many();
    EXPECT_EQ(last.events.count("proxy_header_no_room"), 1U);
    EXPECT_EQ(last.dropped, "unreadable");
    EXPECT_EQ(last.units("request"), 0U);
}

TEST_F(HeadersWithoutRoom, AreReadWithoutAClientByOneThatMonitors) {
    Service monitored;
    monitored.mode = Mode::Monitor;
    probe.service = &monitored;
    const test::ProbedPacket last = last_of_many();
    EXPECT_EQ(last.events.count("proxy_header_no_room"), 1U);
    EXPECT_EQ(last.dropped, "");
    EXPECT_EQ(last.units("request"), 1U);
}

}  // namespace
}  // namespace sluice::proxy_clients_test
