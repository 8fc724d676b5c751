#include "control/cli/explain/described_frame.hpp"

#include "lib/packet/checksum_check.hpp"
#include "lib/packet/field_text.hpp"
#include "lib/packet/parse.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sluice::described_frame_test {
namespace {

PacketWords with(void (*change)(PacketWords&)) {
    PacketWords words{.src = "10.0.0.1", .dst = "192.0.2.1"};
    change(words);
    return words;
}

std::string field(const std::vector<std::byte>& frame, Field name) {
    PacketHeaders headers;
    EXPECT_EQ(parse_frame({frame, static_cast<std::uint32_t>(frame.size())}, {}, headers),
              Parsed::Ok);
    return field_text(name, headers, frame, "");
}

struct Good {
    const char* name;
    void (*change)(PacketWords&);
    Field field;
    std::string_view want;
};

const Good kGood[] = {
    {"udp by itself", [](PacketWords&) {}, Field::IpProto, "17"},
    {"flags make it tcp", [](PacketWords& w) { w.flags = {"syn"}; }, Field::IpProto, "6"},
    {"flags", [](PacketWords& w) { w.flags = {"syn", "ack"}; }, Field::TcpFlags, "18"},
    {"tcp", [](PacketWords& w) { w.proto = "tcp"; }, Field::TcpFlags, "0"},
    {"flags of a request", [](PacketWords& w) { w.http = "GET /"; }, Field::TcpFlags, "24"},
    {"icmp", [](PacketWords& w) { w.proto = "icmp"; }, Field::IcmpType, "0"},
    {"a number", [](PacketWords& w) { w.proto = "47"; }, Field::IpProto, "47"},
    {"ports", [](PacketWords& w) { w.sport = 1234; }, Field::L4Sport, "1234"},
    {"port", [](PacketWords& w) { w.dport = 53; }, Field::L4Dport, "53"},
    {"length", [](PacketWords& w) { w.length = 1500; }, Field::IpLen, "1500"},
    {"payload", [](PacketWords& w) { w.length = 128; }, Field::PayloadLen, "100"},
    {"ttl", [](PacketWords& w) { w.ttl = 3; }, Field::IpTtl, "3"},
    {"dscp", [](PacketWords& w) { w.dscp = 46; }, Field::IpDscp, "46"},
    {"vlan", [](PacketWords& w) { w.vlan = 7; }, Field::VlanId, "7"},
    {"source", [](PacketWords&) {}, Field::IpSrc, "10.0.0.1"},
    {"a request acknowledges", [](PacketWords& w) { w.http = "GET /"; }, Field::TcpFlags, "24"},
    {"unless it says otherwise",
     [](PacketWords& w) {
         w.http = "GET /";
         w.flags = {"urg"};
     },
     Field::TcpFlags, "32"},
};

TEST(DescribedFrame, IsParsedAsItWasDescribed) {
    for (const Good& good : kGood) {
        const auto frame = described_frame(with(good.change));
        ASSERT_TRUE(frame) << good.name << ": " << frame.error().what;
        EXPECT_EQ(field(*frame, good.field), good.want) << good.name;
    }
}

// The handshake and the data are of one connection, and the data comes next.
TEST(DescribedFrame, HasAHandshakeBeforeItsData) {
    const PacketWords request = with([](PacketWords& w) {
        w.http = "GET /";
        w.sport = 1234;
    });
    const auto words = handshake_before(request);
    ASSERT_TRUE(words);
    for (const auto& [at, flags, sport] :
         {std::tuple{0, "2", Field::L4Sport}, std::tuple{1, "18", Field::L4Dport},
          std::tuple{2, "16", Field::L4Sport}}) {
        const auto frame = described_frame(words->at(static_cast<std::size_t>(at)));
        ASSERT_TRUE(frame);
        EXPECT_EQ(field(*frame, Field::TcpFlags), flags);
        EXPECT_EQ(field(*frame, Field::PayloadLen), "0");
        EXPECT_EQ(field(*frame, sport), "1234");
    }
    EXPECT_FALSE(handshake_before(with([](PacketWords& w) { w.proto = "tcp"; }))) << "no data";
    EXPECT_FALSE(handshake_before(with([](PacketWords& w) { w.payload = "x"; }))) << "over UDP";
    EXPECT_FALSE(handshake_before(words->front())) << "the SYN itself";
}

TEST(DescribedFrame, SpeaksIpv6Too) {
    const auto frame = described_frame({.src = "2001:db8::1",
                                        .dst = "2001:db8::2",
                                        .proto = "icmp",
                                        .length = 100,
                                        .ttl = 9,
                                        .dscp = 10});
    ASSERT_TRUE(frame);
    EXPECT_EQ(field(*frame, Field::IpSrc), "2001:db8::1");
    EXPECT_EQ(field(*frame, Field::IpDst), "2001:db8::2");
    EXPECT_EQ(field(*frame, Field::IpProto), "58");
    EXPECT_EQ(field(*frame, Field::IpLen), "100");
    EXPECT_EQ(field(*frame, Field::IpTtl), "9");
    EXPECT_EQ(field(*frame, Field::IpDscp), "10");
}

ChecksumFinding checksums_of(const PacketWords& words) {
    const auto frame = described_frame(words);
    PacketHeaders headers;
    const FrameView view{*frame, static_cast<std::uint32_t>(frame->size())};
    EXPECT_EQ(parse_frame(view, {}, headers), Parsed::Ok);
    return find_checksums(headers, view);
}

TEST(DescribedFrame, HasChecksumsThatAreRight) {
    for (const std::string& proto : {std::string{"tcp"}, std::string{"udp"}}) {
        for (const std::uint16_t vlan : {std::uint16_t{0}, std::uint16_t{7}}) {
            for (const std::uint32_t length : {0U, 101U}) {
                EXPECT_EQ(checksums_of({.src = "2001:db8::1",
                                        .dst = "2001:db8::2",
                                        .proto = proto,
                                        .length = length,
                                        .vlan = vlan}),
                          ChecksumFinding::Right)
                    << proto;
            }
        }
    }
    EXPECT_EQ(checksums_of({.src = "10.0.0.1", .dst = "10.0.0.2", .http = "GET /odd", .vlan = 9}),
              ChecksumFinding::Right);
    // IPv4 lets datagrams go without.
    EXPECT_EQ(checksums_of({.src = "10.0.0.1", .dst = "10.0.0.2", .proto = "udp"}),
              ChecksumFinding::Unknown);
}

struct Bad {
    std::string_view says;
    void (*change)(PacketWords&);
};

const Bad kBad[] = {
    {"--src: `10.0.0` is not an address", [](PacketWords& w) { w.src = "10.0.0"; }},
    {"--dst, the receiver's address, is missing", [](PacketWords& w) { w.dst = ""; }},
    {"different IP versions", [](PacketWords& w) { w.dst = "::1"; }},
    {"--proto is tcp, udp, icmp or a number up to 255, found `256`",
     [](PacketWords& w) { w.proto = "256"; }},
    {"found `ssh`", [](PacketWords& w) { w.proto = "ssh"; }},
    {"the packet is not TCP",
     [](PacketWords& w) {
         w.proto = "udp";
         w.flags = {"syn"};
     }},
    {"found `sin`", [](PacketWords& w) { w.flags = {"sin"}; }},
    {"from 28 to 9000 bytes", [](PacketWords& w) { w.length = 27; }},
    {"from 28 to 9000 bytes", [](PacketWords& w) { w.length = 9001; }},
};

TEST(DescribedFrame, SaysWhatCannotBe) {
    for (const Bad& bad : kBad) {
        const auto frame = described_frame(with(bad.change));
        ASSERT_FALSE(frame) << bad.says;
        EXPECT_NE(frame.error().what.find(bad.says), std::string::npos) << frame.error().what;
    }
}

}  // namespace
}  // namespace sluice::described_frame_test
