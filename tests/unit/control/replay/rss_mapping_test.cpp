#include "control/replay/rss_mapping.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace sluice::rss_mapping_test {
namespace {

PacketHeaders udp_headers(const std::string& src, const std::string& dst) {
    PacketHeaders headers;
    const auto from = parse_address(src);
    headers.src = from->address;
    headers.dst = parse_address(dst)->address;
    headers.ip_version = from->version;
    headers.proto = 17;
    headers.sport = 1'000;
    headers.dport = 53;
    for (const Field field : {Field::IpSrc, Field::IpDst, Field::L4Sport, Field::L4Dport}) {
        headers.fields.add(field);
    }
    return headers;
}

TEST(WorkerOf, DependsOnNothingButTheInput) {
    const PacketHeaders one = udp_headers("192.0.2.1", "198.51.100.7");
    PacketHeaders other_port = one;
    other_port.sport = 2'000;
    for (std::size_t workers = 1; workers <= 64; ++workers) {
        const PacketHeaders other_dst = udp_headers("192.0.2.1", "198.51.100.8");
        const PacketHeaders other_src = udp_headers("192.0.2.9", "198.51.100.7");
        const PacketHeaders back = udp_headers("198.51.100.7", "192.0.2.1");
        EXPECT_EQ(worker_of(one, Rss::Source, workers), worker_of(other_dst, Rss::Source, workers));
        EXPECT_EQ(worker_of(one, Rss::Destination, workers),
                  worker_of(other_src, Rss::Destination, workers));
        EXPECT_EQ(worker_of(one, Rss::Symmetric, workers),
                  worker_of(back, Rss::Symmetric, workers));
        EXPECT_EQ(worker_of(one, Rss::Symmetric, workers),
                  worker_of(other_port, Rss::Symmetric, workers));
        EXPECT_LT(worker_of(one, Rss::FiveTuple, workers), workers);
    }
}

TEST(WorkerOf, UsesEveryWorker) {
    std::array<std::set<std::size_t>, 4> used;
    for (int host = 0; host < 100; ++host) {
        const std::string last = std::to_string(host);
        const PacketHeaders headers = udp_headers("192.0.2." + last, "198.51.100." + last);
        for (std::size_t input = 0; input < used.size(); ++input) {
            used[input].insert(worker_of(headers, static_cast<Rss>(input), 4));
        }
    }
    for (const auto& workers : used) {
        EXPECT_EQ(workers.size(), 4U);
    }
}

TEST(WorkerOf, KeepsAPrefixTogether) {
    const auto of = [](const std::string& src) {
        return worker_of(udp_headers(src, "198.51.100.7"), Rss::SourcePrefix, 64);
    };
    std::set<std::size_t> used;
    for (int net = 0; net < 100; ++net) {
        const std::string prefix = "10.0." + std::to_string(net) + ".";
        EXPECT_EQ(of(prefix + "1"), of(prefix + "200"));
        used.insert(of(prefix + "1"));
    }
    EXPECT_GT(used.size(), 30U);
}

TEST(WorkerOf, KeepsFragmentsWithTheirFlow) {
    PacketHeaders first = udp_headers("192.0.2.1", "198.51.100.7");
    first.frag = Fragment::First;
    PacketHeaders later = first;
    later.frag = Fragment::Later;
    later.fields = FieldSet{};
    later.fields.add(Field::IpSrc);
    later.sport = later.dport = 0;
    EXPECT_EQ(worker_of(first, Rss::FiveTuple, 64), worker_of(later, Rss::FiveTuple, 64));
    EXPECT_EQ(worker_of(first, Rss::Source, 64), worker_of(later, Rss::Source, 64));
}

TEST(WorkerOf, SendsWhatIsNotIpToTheFirst) {
    EXPECT_EQ(worker_of(PacketHeaders{}, {}, 64), 0U);
}

TEST(DirectionOf, IsOutForSourcesBehindTheBox) {
    const auto inside = parse_prefixes({"10.0.0.0/8", "2001:db8::/32"});
    ASSERT_TRUE(inside);
    EXPECT_EQ(direction_of(udp_headers("10.255.0.1", "192.0.2.1"), *inside), Direction::Out);
    EXPECT_EQ(direction_of(udp_headers("11.0.0.1", "10.0.0.1"), *inside), Direction::In);
    EXPECT_EQ(direction_of(udp_headers("2001:db8:ffff::1", "::1"), *inside), Direction::Out);
    EXPECT_EQ(direction_of(udp_headers("2001:db9::1", "::1"), *inside), Direction::In);
    // 10.0.0.0 as the first bytes of an IPv6 address is no IPv4 address.
    EXPECT_EQ(direction_of(udp_headers("a00::1", "::1"), *inside), Direction::In);
    EXPECT_EQ(direction_of(PacketHeaders{}, *parse_prefixes({"0.0.0.0/0", "::/0"})), Direction::In);
}

TEST(DirectionOf, KnowsAddressesAsHosts) {
    const auto inside = parse_prefixes({"10.0.0.1", "2001:db8::1"});
    ASSERT_TRUE(inside);
    EXPECT_EQ(direction_of(udp_headers("10.0.0.1", "192.0.2.1"), *inside), Direction::Out);
    EXPECT_EQ(direction_of(udp_headers("10.0.0.2", "10.0.0.1"), *inside), Direction::In);
    EXPECT_EQ(direction_of(udp_headers("2001:db8::1", "::1"), *inside), Direction::Out);
    EXPECT_EQ(direction_of(udp_headers("2001:db8::2", "::1"), *inside), Direction::In);
}

TEST(Prefixes, AreRefusedWithTheReason) {
    EXPECT_NE(parse_prefixes({"10.0.0.1/8"}).error().what.find("bits"), std::string::npos);
    EXPECT_FALSE(parse_prefixes({"10.0.0.0/8", "x"}));
    EXPECT_TRUE(parse_prefixes({})->empty());
}

}  // namespace
}  // namespace sluice::rss_mapping_test
