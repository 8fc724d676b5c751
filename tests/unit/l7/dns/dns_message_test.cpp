#include "lib/l7/dns/dns_message.hpp"

#include "tests/packets/dns_bytes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace sluice::dns_message_test {
namespace {

using test::be16_text;
using test::dns_query;
using test::dns_question;
using test::DnsText;

TEST(DnsMessage, HasItsHeaderAndFirstQuestion) {
    const std::string wire =
        DnsText{.flags = 0x2900, .questions = 2, .body = dns_question("a.b", 28, 255)}.wire();
    const DnsMessage parsed = parse_dns_message(bytes_of(wire));
    EXPECT_EQ(parsed.parsed, DnsParsed::Ok);
    EXPECT_FALSE(parsed.is_response);
    EXPECT_EQ(parsed.opcode, 5);
    EXPECT_EQ(parsed.questions, 2);
    EXPECT_EQ(parsed.first.name_at, kDnsHeaderSize);
    EXPECT_EQ(parsed.first.end, wire.size());
    EXPECT_EQ(parsed.first.type, 28);
    EXPECT_EQ(parsed.first.in_class, 255);
}

TEST(DnsMessage, TellsResponsesFromQueries) {
    EXPECT_TRUE(parse_dns_message(bytes_of(test::dns_response("a"))).is_response);
    EXPECT_FALSE(parse_dns_message(bytes_of(dns_query("a"))).is_response);
}

TEST(DnsMessage, SaysHowItIsMalformed) {
    const auto parsed = [](const std::string& wire) {
        return parse_dns_message(bytes_of(wire)).parsed;
    };
    const std::string body = dns_question("a");
    EXPECT_EQ(parsed(""), DnsParsed::ShortHeader);
    EXPECT_EQ(parsed(dns_query("a").substr(0, 11)), DnsParsed::ShortHeader);
    EXPECT_EQ(parsed(DnsText{.flags = 3 << 11, .body = body}.wire()), DnsParsed::BadOpcode);
    EXPECT_EQ(parsed(DnsText{.flags = 7 << 11, .body = body}.wire()), DnsParsed::BadOpcode);
    EXPECT_EQ(parsed(DnsText{.questions = 0, .body = body}.wire()), DnsParsed::NoQuestion);
    EXPECT_EQ(parsed(DnsText{.body = std::string{"\x40", 1} + body}.wire()), DnsParsed::BadLabel);
    EXPECT_EQ(parsed(DnsText{.body = "\xC0\x0C" + body}.wire()), DnsParsed::BadPointer);
    for (const std::uint16_t opcode : std::to_array<std::uint16_t>({0, 1, 2, 4, 5, 6})) {
        const auto flags = static_cast<std::uint16_t>(opcode << 11);
        EXPECT_EQ(parsed(DnsText{.flags = flags, .body = body}.wire()), DnsParsed::Ok) << opcode;
    }
}

// Cut anywhere, a query is none; whole, it is one whatever follows.
TEST(DnsMessage, NeedsAllOfItsQuestion) {
    const std::string wire = dns_query("www.example.com", 16);
    for (std::size_t size = 0; size < wire.size(); ++size) {
        EXPECT_NE(parse_dns_message(bytes_of(wire.substr(0, size))).parsed, DnsParsed::Ok) << size;
    }
    EXPECT_EQ(parse_dns_message(bytes_of(wire)).parsed, DnsParsed::Ok);
    EXPECT_EQ(parse_dns_message(bytes_of(wire + "rest")).parsed, DnsParsed::Ok);
}

// A server follows a pointer of the first question into the header, where zeroes are roots.
TEST(DnsMessage, FollowsPointersIntoItsHeader) {
    const std::string wire = DnsText{.body = "\x01x\xC0\x06" + be16_text(1) + be16_text(1)}.wire();
    const DnsMessage parsed = parse_dns_message(bytes_of(wire));
    ASSERT_EQ(parsed.parsed, DnsParsed::Ok);
    std::array<std::byte, kMaxDnsNameText> text;
    EXPECT_EQ(write_dns_name(bytes_of(wire), parsed.first.name_at, text), 1U);
}

TEST(DnsMessage, OfAStreamStandBehindTheirLengths) {
    const std::string one = dns_query("a.example");
    const std::string two = dns_query("b");
    const std::string stream = be16_text(static_cast<std::uint16_t>(one.size())) + one +
                               be16_text(static_cast<std::uint16_t>(two.size())) + two;
    for (std::size_t size = 0; size < one.size() + 2; ++size) {
        const DnsTcpFrame frame = split_dns_stream(bytes_of(stream.substr(0, size)));
        EXPECT_EQ(frame.missing, size < 2 ? 2 - size : one.size() + 2 - size) << size;
    }
    const DnsTcpFrame first = split_dns_stream(bytes_of(stream));
    EXPECT_EQ(first.missing, 0U);
    EXPECT_EQ(first.message.size(), one.size());
    const DnsTcpFrame second = split_dns_stream(bytes_of(stream).subspan(first.end));
    EXPECT_EQ(second.missing, 0U);
    EXPECT_EQ(second.message.size(), two.size());
    EXPECT_EQ(first.end + second.end, stream.size());
}

TEST(DnsMessage, OfAStreamEndsBehindTheLastByteOfOne) {
    const std::string one = dns_query("a.example");
    const std::string stream = be16_text(static_cast<std::uint16_t>(one.size())) + one;
    for (std::size_t size = 0; size <= 2 * stream.size(); ++size) {
        EXPECT_EQ(ends_with_dns_message(bytes_of((stream + stream).substr(0, size))),
                  size % stream.size() == 0)
            << size;
    }
    EXPECT_TRUE(ends_with_dns_message(bytes_of(std::string(6, '\0'))));
    EXPECT_FALSE(ends_with_dns_message(bytes_of("\xff\xff" + stream)));
}

}  // namespace
}  // namespace sluice::dns_message_test
