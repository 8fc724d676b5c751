#include "lib/policy/keys/key_text.hpp"

#include "lib/packet/parse.hpp"
#include "tests/packets/frame.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sluice::key_text_test {
namespace {

using test::Frame;

const KeyPart kSource{Field::IpSrc};
const KeyPart kNetwork{Field::IpSrc, 24, 64};
const KeyPart kPort{Field::L4Dport};

const KeyPart kClient{Field::ClientIp, 24, 64, Unwrapping{1}};
const KeyPart kText{.text = TextField::Payload, .room = 100};
const KeyPart kLower{.text = TextField::Payload, .lower = true, .room = 100};
const std::string kDigestOf101 = "9c543fd357ad2f0a833eb0a7d0c9cd90";

struct Good {
    std::string what;
    GroupingKey key;
    std::string text;
    std::string spelled;  // in one spelling
};

TEST(KeyText, ReadsEveryKindOfField) {
    const Good rows[] = {
        {"address", {kSource}, "192.0.2.7", "192.0.2.7"},
        {"its other spelling", {kSource}, "2001:DB8:0::1", "2001:db8::1"},
        {"a whole length", {kSource}, "192.0.2.7/32", "192.0.2.7"},
        {"network", {kNetwork}, "192.0.2.0/24", "192.0.2.0/24"},
        {"an address in it", {kNetwork}, "192.0.2.7", "192.0.2.0/24"},
        {"v6 network", {kNetwork}, "2001:db8::7", "2001:db8::/64"},
        {"two parts", {kSource, kPort}, "192.0.2.7|443", "192.0.2.7|443"},
        {"hexadecimal", {{Field::EthType}}, "0x0806", "0x0806"},
        {"decimal", {{Field::EthType}}, "2054", "0x0806"},
        {"flag", {{Field::TcpSyn}}, "1", "1"},
        {"mac", {{Field::EthSrc}}, "AA:bb:cc:00:11:22", "aa:bb:cc:00:11:22"},
        {"direction", {{Field::Dir}}, "out", "out"},
        {"fragment", {{Field::IpFrag}}, "later", "later"},
        {"pair", {{Field::Port}}, "uplink", "uplink"},
        {"country", {{Field::IpSrcCountry}}, "NL", "NL"},
        {"asn", {{Field::IpSrcAsn}}, "64496", "64496"},
        {"pair with a bar", {{Field::Port}, kPort}, "up\\x7clink|53", "up\\x7clink|53"},
        {"no parts", {}, "", ""},
        {"client", {kClient}, "192.0.2.7", "192.0.2.0/24"},
        {"client as it is wrapped", {kClient}, "64:ff9b::c000:207", "192.0.2.0/24"},
        {"what lies beside wrapped addresses", {kClient}, "64:ff9b::/64", "64:ff9b::/64"},
        {"client in a way that is not undone", {kClient}, "::ffff:192.0.2.7", "::/64"},
        {"text", {kText}, "a b\\x00\\x7c\\xff", "a b\\x00\\x7c\\xff"},
        {"text in small letters", {kLower, kPort}, "ABc|53", "abc|53"},
        {"no text", {kText}, "", ""},
        {"as long as there is room", {kText}, std::string(100, 'x'), std::string(100, 'x')},
        {"longer", {kText}, std::string(101, 'x'), std::string(48, 'x') + "\\h" + kDigestOf101},
        {"its digest",
         {kText},
         std::string(48, 'x') + "\\h" + kDigestOf101,
         std::string(48, 'x') + "\\h" + kDigestOf101},
    };
    for (const Good& row : rows) {
        const Result<ReadKey> read = read_key_text(row.key, row.text);
        ASSERT_TRUE(read) << row.what << ": " << read.error().what;
        EXPECT_EQ(read->text, row.spelled) << row.what;
    }
}

struct Bad {
    GroupingKey key;
    std::string text;
    std::string says;
};

TEST(KeyText, SaysWhatIsWrongAndWithWhichPart) {
    const Bad rows[] = {
        {{kSource}, "192.0.2.7|443", "`192.0.2.7|443` has 2 parts, and the key ip.src has 1"},
        {{kSource, kPort}, "192.0.2.7", "has 1 part, and the key ip.src|l4.dport has 2"},
        {{kSource}, "192.0.2.0/24", "it groups by single addresses"},
        {{kNetwork}, "192.0.2.0/25", "it groups by networks of /24"},
        {{kNetwork}, "192.0.2.7/24", "the network is 192.0.2.0/24"},
        {{kSource}, "example.org", "ip.src: expected an address"},
        {{kSource}, "", "ip.src: expected an address"},
        {{kSource, kPort}, "192.0.2.7|65536", "l4.dport: "},
        {{kPort}, "-1", "l4.dport: "},
        {{kPort}, "0x1FFFF", "l4.dport: "},
        {{{Field::TcpSyn}}, "2", "tcp.flags.syn: "},
        {{{Field::Dir}}, "inn", "dir: `inn` is none of in, out"},
        {{{Field::EthSrc}}, "aa:bb:cc", "eth.src: "},
        {{{Field::EthSrc}}, "aa-bb-cc-00-11-22", "eth.src: "},
        {{{Field::Port}}, "a\\b", "port: a `\\` begins \\xNN"},
        {{{Field::IpSrcCountry}}, "nld", "`nld` is no code of two letters"},
        {{}, "x", "has 1 part, and the key [] has 0"},
        {{KeyPart{Field::ClientIp, 24, 112, Unwrapping{1}}},
         "64:ff9b::c000:0/112",
         "written as the IPv4 network inside it"},
        {{kText}, "a\\y", "payload: a `\\` begins \\xNN"},
        {{kText}, "abc\\h" + kDigestOf101, "is its first 48, \\h and 32 hexadecimal digits"},
        {{kText}, std::string(48, 'x') + "\\h12", "32 hexadecimal digits"},
        {{kText}, std::string(48, 'x') + "\\h" + kDigestOf101 + "0", "32 hexadecimal digits"},
        {{kLower, kPort}, "a", "has 1 part, and the key lower(payload)|l4.dport has 2"},
    };
    for (const Bad& row : rows) {
        const Result<ReadKey> read = read_key_text(row.key, row.text);
        ASSERT_FALSE(read) << row.text;
        EXPECT_NE(read.error().what.find(row.says), std::string::npos) << read.error().what;
    }
}

TEST(KeyText, OfSeveralKeysTheOneThatFits) {
    const std::vector<GroupingKey> keys{{kSource}, {kPort}, {{Field::IpDst}}};
    EXPECT_EQ(read_key_of_rule(keys, MissingKey::Skip, "53")->index, 1);
    EXPECT_FALSE(read_key_of_rule(keys, MissingKey::Skip, "x"));
    const Result<ReadKey> two = read_key_of_rule(keys, MissingKey::Skip, "192.0.2.1");
    ASSERT_FALSE(two);
    EXPECT_NE(two.error().what.find("tier 1 and of tier 3; say which with --tier"),
              std::string::npos)
        << two.error().what;
    EXPECT_EQ(read_key_of_rule(keys, MissingKey::Skip, "192.0.2.1", 3)->index, 2);
    EXPECT_FALSE(read_key_of_rule(keys, MissingKey::Skip, "192.0.2.1", 4));
    EXPECT_FALSE(read_key_of_rule(keys, MissingKey::Skip, "192.0.2.1", 2));
    EXPECT_FALSE(read_key_of_rule({}, MissingKey::Skip, ""));
}

TEST(KeyText, TheEmptyTextIsTheSharedKeyWhereThereIsOne) {
    const std::vector<GroupingKey> keys{{kSource}};
    EXPECT_FALSE(read_key_of_rule(keys, MissingKey::Skip, ""));
    const Result<ReadKey> shared = read_key_of_rule(keys, MissingKey::Share, "");
    ASSERT_TRUE(shared);
    KeyBytes bytes;
    const PacketHeaders nothing;
    ASSERT_EQ(key_of(keys[0], MissingKey::Share, nothing, {}, bytes), KeyOutcome::Shared);
    EXPECT_TRUE(std::ranges::equal(shared->bytes.view(), bytes.view()));
}

// What the pipeline makes of a packet, written as text and read again, is the same bytes.
TEST(KeyText, ComesBackAsThePipelineHasIt) {
    std::mt19937_64 random{7};
    const auto below = [&](std::size_t bound) { return random() % bound; };
    std::size_t checked = 0;
    for (int round = 0; round < 4000; ++round) {
        Frame frame = below(2) == 0 ? test::udp() : test::tcp();
        const std::string host = std::to_string(below(3)) + "." + std::to_string(below(256));
        frame.src(below(3) == 0
                      ? "2001:db8:" + std::to_string(below(99)) + "::" + std::to_string(below(99))
                      : "10.9." + host);
        frame.dport(static_cast<std::uint16_t>(below(65'536))).vlan(below(4096) & 0xFFF);
        const test::Octets bytes = frame.bytes();
        PacketHeaders headers;
        ASSERT_EQ(parse_frame({bytes, static_cast<std::uint32_t>(bytes.size())}, {}, headers),
                  Parsed::Ok);
        headers.fields.add(Field::Dir);
        GroupingKey key;
        for (std::size_t parts = below(4); parts > 0; --parts) {
            const auto field = static_cast<Field>(below(kFieldCount));
            if (headers.fields.has(field) && field != Field::Port) {
                key.push_back({field, static_cast<std::uint8_t>(below(33)),
                               static_cast<std::uint8_t>(below(129))});
            }
        }
        KeyBytes made;
        ASSERT_EQ(key_of(key, MissingKey::Skip, headers, bytes, made), KeyOutcome::Complete);
        const std::string text = key_text(key, headers, bytes, "");
        const Result<ReadKey> read = read_key_text(key, text);
        ASSERT_TRUE(read) << text << ": " << read.error().what;
        EXPECT_TRUE(std::ranges::equal(read->bytes.view(), made.view())) << text;
        EXPECT_EQ(read->text, text);
        ++checked;
    }
    EXPECT_EQ(checked, 4000U);
}

}  // namespace
}  // namespace sluice::key_text_test
