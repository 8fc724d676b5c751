#include "lib/l7/dns/dns_datagram.hpp"

#include "tests/packets/dns_bytes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

namespace sluice::dns_datagram_test {
namespace {

using test::be16_text;
using test::dns_labels;
using test::dns_query;
using test::dns_question;
using test::DnsText;

bool looks(const std::string& wire) {
    return looks_like_dns(bytes_of(wire));
}

// EDNS: the root, OPT, 1232 bytes, no flags, no data.
const std::string kOpt{"\0\0\x29\x04\xD0\0\0\0\0\0\0", 11};
const std::string kAnswer = "\xC0\x0C" + be16_text(1) + be16_text(1) + std::string(4, '\0') +
                            be16_text(4) + "\x0A\x01\x02\x03";

TEST(DnsDatagram, IsRecognisedOnAnyPortWhenAllOfItFits) {
    EXPECT_TRUE(looks(dns_query("example.com")));
    EXPECT_TRUE(looks(dns_query("example.com", 65)));
    EXPECT_TRUE(looks(DnsText{.additionals = 1, .body = dns_question("a") + kOpt}.wire()));
    EXPECT_TRUE(looks(DnsText{.flags = 0x8180,
                              .answers = 2,
                              .additionals = 1,
                              .body = dns_question("a") + kAnswer + kAnswer + kOpt}
                          .wire()));
    EXPECT_TRUE(looks(DnsText{.flags = 0x8183, .body = dns_question("nx")}.wire()));
    // Servers look at neither: the reserved bit, and a query's response code.
    EXPECT_TRUE(looks(DnsText{.flags = 0x0140, .body = dns_question("a")}.wire()));
    EXPECT_TRUE(looks(DnsText{.flags = 0x0103, .body = dns_question("a")}.wire()));
    for (const std::uint16_t known : std::to_array<std::uint16_t>({1, 3, 4, 254, 255})) {
        EXPECT_TRUE(looks(DnsText{.body = dns_question("a", 1, known)}.wire())) << known;
    }
}

TEST(DnsDatagram, IsNoneWhenAnythingContradicts) {
    const std::string body = dns_question("a");
    EXPECT_FALSE(looks(dns_query("a") + "x"));  // bytes behind
    EXPECT_FALSE(looks(dns_query("a").substr(0, dns_query("a").size() - 1)));
    EXPECT_FALSE(looks(DnsText{.flags = 0x2000, .body = body}.wire()));  // NOTIFY
    EXPECT_FALSE(looks(DnsText{.questions = 2, .body = body + body}.wire()));
    EXPECT_FALSE(looks(DnsText{.questions = 0, .body = body}.wire()));
    EXPECT_FALSE(looks(DnsText{.answers = 1, .body = body + kAnswer}.wire()));
    EXPECT_FALSE(looks(DnsText{.body = dns_question("a", 1, 2)}.wire()));
    EXPECT_FALSE(looks(DnsText{.additionals = 2, .body = body + kOpt}.wire()));
    EXPECT_FALSE(looks(DnsText{.flags = 0x818C, .body = body}.wire()));  // an unknown code
    EXPECT_FALSE(looks(""));
}

// A message is walked for a bounded time, however many names it has and however long they are.
TEST(DnsDatagram, IsNoneWhenItsNamesTakeTooManySteps) {
    const auto with_records = [](int records, const std::string& name) {
        std::string body = dns_question("a");
        for (int i = 0; i < records; ++i) {
            body += name + std::string(2 + 2 + 4 + 2, '\0');
        }
        return DnsText{
            .flags = 0x8180, .answers = static_cast<std::uint16_t>(records), .body = body}
            .wire();
    };
    const std::string of_16_steps = dns_labels("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o");
    EXPECT_TRUE(looks(with_records(16, of_16_steps)));
    EXPECT_FALSE(looks(with_records(17, of_16_steps)));
    EXPECT_TRUE(looks(with_records(64, "\xC0\x0C")));  // three steps each, as who compresses
}

TEST(DnsDatagram, RandomBytesAreNone) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 dice{seed};
    for (int round = 0; round < 100'000; ++round) {
        std::string bytes(dice() % 100, '\0');
        for (char& c : bytes) {
            c = static_cast<char>(dice());
        }
        EXPECT_FALSE(looks(bytes));
    }
}

TEST(DnsDatagram, PortsSayWhatItIs) {
    for (const bool is_response : {false, true}) {
        EXPECT_EQ(dns_ports(53, 53, is_response), DnsPorts::Dns);
        EXPECT_EQ(dns_ports(40000, 53, is_response), DnsPorts::Dns);
        EXPECT_EQ(dns_ports(53, 5353, is_response), DnsPorts::Dns);
        EXPECT_EQ(dns_ports(40000, 5300, is_response), DnsPorts::Other);
    }
    for (const std::uint16_t port : std::to_array<std::uint16_t>({137, 5353, 5355})) {
        EXPECT_EQ(dns_ports(port, 1000, true), DnsPorts::Sibling) << port;
        EXPECT_EQ(dns_ports(1000, port, false), DnsPorts::Sibling) << port;
        // The port that a client comes from, and is answered at, says nothing.
        EXPECT_EQ(dns_ports(port, 1000, false), DnsPorts::Other) << port;
        EXPECT_EQ(dns_ports(1000, port, true), DnsPorts::Other) << port;
    }
}

}  // namespace
}  // namespace sluice::dns_datagram_test
