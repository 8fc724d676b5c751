#include "lib/l7/http1/request_texts.hpp"
#include "lib/l7/stream/unit_parser.hpp"
#include "lib/l7/stream/wanted_protocols.hpp"
#include "tests/counted_allocations.hpp"
#include "tests/packets/dns_bytes.hpp"
#include "tests/unit/l7/quic/quic_datagrams.hpp"
#include "tests/unit/l7/stream/unit_probe.hpp"

#include <gtest/gtest.h>

namespace sluice::units_no_allocation_test {
namespace {

using test::Octets;

// Hellos and queries in pieces, from many connections, more than there is room for.
std::vector<Octets> frames() {
    std::vector<Octets> made;
    const Octets hello = test::HelloMaker{}.sni("Example.com").alpn({"h2"}).records(60);
    const Octets quic = test::quic_hello("Example.com");
    const std::string query = test::dns_query("example.com");
    const Octets dns =
        test::message_octets(test::be16_text(static_cast<std::uint16_t>(query.size())) + query);
    for (unsigned i = 0; i < 60; ++i) {
        const auto port = static_cast<std::uint16_t>(10'000 + i);
        made.push_back(test::opening(1, 443, port));
        made.push_back(test::segment(1, {hello.begin(), hello.begin() + 70}, 443, port));
        made.push_back(test::segment(71, {hello.begin() + 70, hello.end()}, 443, port));
        made.push_back(test::opening(1, 53, port));
        made.push_back(test::segment(1, dns, 53, port));
        made.push_back(test::quic_frame(test::quic_initial("a", i).packet()));
        made.push_back(test::quic_frame(test::quic_part(quic, 0, 60, 500 + i).packet()));
        if (i % 2 == 0) {
            made.push_back(
                test::quic_frame(test::quic_part(quic, 60, quic.size(), 500 + i).packet()));
        }
    }
    return made;
}

TEST(Units, AllocateNothing) {
    ASSERT_TRUE(test::counts_openssl());
    const std::vector<Octets> all = frames();
    UnitParser parser{
        UnitBudget{.connections = {.connections = 32, .half_heads = 8, .half_head_lines = 64},
                   .quic = {.connections = 32, .half_hellos = 4, .percent = 100}}};
    BurstUnits units{parser.finder()};
    const KeyHasher hash{HashSecret{1, 2}};
    const RequestTexts requests;
    TextFieldSet wanted = kTextsOfAll;
    for (const TextFieldSet& protocol : {kDnsTexts, kTlsTexts, kQuicTexts}) {
        wanted.add_all(protocol);
    }
    std::size_t found = 0;
    const std::size_t before = test::allocations();
    ASSERT_GT(before, 0U);
    for (int round = 0; round < 20; ++round) {
        for (const Octets& frame : all) {
            const FrameView view{frame, static_cast<std::uint32_t>(frame.size())};
            PacketHeaders headers;
            parse_frame(view, {}, headers);
            units.clear();
            (void)units.find(0, {.headers = headers,
                                 .frame = view,
                                 .wanted = wanted,
                                 .counted = PerSet{Per::Query, Per::Handshake},
                                 .requests = requests,
                                 .hash = hash,
                                 .now = Instant{std::chrono::seconds{100 + 20 * round}}});
            found += units.count(0) != 0 && units.unit(0, 0).kind != Per::Packet ? 1 : 0;
        }
    }
    EXPECT_EQ(test::allocations() - before, 0U);
    EXPECT_GT(found, 20U * 100U);
}

}  // namespace
}  // namespace sluice::units_no_allocation_test
