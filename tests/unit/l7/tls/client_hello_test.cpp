#include "lib/l7/tls/client_hello.hpp"

#include "tests/unit/l7/hello_maker.hpp"

#include <gtest/gtest.h>

namespace sluice::client_hello_test {
namespace {

using test::behind16;
using test::behind8;
using test::from_hex;
using test::HelloMaker;
using test::Octets;
using test::octets_of;
using test::pairs;
using test::put;

std::string_view text_of(ByteView bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(ClientHello, SaysWhatItSays) {
    const Octets message = HelloMaker{}
                               .sni("WWW.Example.com")
                               .extension(0x0A0A, {})
                               .alpn({"h2", "http/1.1"})
                               .versions({0x7A7A, 0x0303, 0x0304})
                               .algorithms({0x0403, 0x0804})
                               .message();
    ClientHello hello;
    const HelloRead read = read_client_hello(message, hello);
    EXPECT_EQ(read.outcome, HelloOutcome::Whole);
    EXPECT_EQ(read.at, message.size());
    EXPECT_EQ(read.handshake_type, 1);
    EXPECT_EQ(hello.legacy_version, 0x0303);
    EXPECT_EQ(hello.version, 0x0304);
    EXPECT_EQ(hello.server_name.text(), "www.example.com");
    EXPECT_EQ(hello.server_name.kind(), ServerNameKind::HostName);
    EXPECT_EQ(text_of(hello.alpn), "h2");
    EXPECT_EQ(hello.session_id.size(), 32U);
    EXPECT_EQ(hello.cipher_suites.size(), 4U);
    EXPECT_EQ(hello.signature_algorithms.size(), 4U);
}

TEST(ClientHello, NothingOfAnEarlierHelloIsLeft) {
    ClientHello hello;
    const Octets full = HelloMaker{}.sni("a.b").alpn({"h2"}).versions({0x0304}).message();
    ASSERT_EQ(read_client_hello(full, hello).outcome, HelloOutcome::Whole);
    const Octets bare = HelloMaker{}.legacy_version(0x0301).no_extensions().message();
    ASSERT_EQ(read_client_hello(bare, hello).outcome, HelloOutcome::Whole);
    EXPECT_EQ(hello.version, 0x0301);
    EXPECT_FALSE(hello.has_server_name);
    EXPECT_EQ(hello.server_name.kind(), ServerNameKind::Absent);
    EXPECT_TRUE(hello.alpn.empty() && hello.extensions.empty() &&
                hello.signature_algorithms.empty());
}

TEST(ClientHello, OnlyGreaseAmongVersionsLeavesTheLegacyVersion) {
    ClientHello hello;
    const Octets message = HelloMaker{}.versions({0x1A1A}).message();
    ASSERT_EQ(read_client_hello(message, hello).outcome, HelloOutcome::Whole);
    EXPECT_EQ(hello.version, 0x0303);
}

TEST(ClientHello, EveryBeginningAsksForMore) {
    const Octets message = HelloMaker{}.sni("example.com").message();
    ClientHello hello;
    for (std::size_t size = 0; size < message.size(); ++size) {
        const HelloRead read = read_client_hello(ByteView{message}.first(size), hello);
        ASSERT_EQ(read.outcome, HelloOutcome::NeedMore) << size;
        ASSERT_EQ(read.at, size < kHandshakeHeader ? kHandshakeHeader : message.size()) << size;
    }
    Octets longer = message;
    put(longer, Octets(100));
    EXPECT_EQ(read_client_hello(longer, hello).at, message.size());
}

struct Row {
    std::string_view name;
    Octets message;
    HelloFault fault;
};

Octets server_name(const Octets& list) {
    return HelloMaker{}.extension(0, behind16(list)).message();
}
Octets host(std::string_view name, unsigned type = 0) {
    Octets entry{static_cast<std::byte>(type)};
    put(entry, behind16(octets_of(name)));
    return entry;
}
// A name of four labels, the last one of so many bytes.
std::string labels(std::size_t last) {
    const std::string label = std::string(63, 'a') + ".";
    return label + label + label + std::string(last, 'a');
}
Octets joined(Octets one, const Octets& other) {
    put(one, other);
    return one;
}

std::vector<Row> rows() {
    return {
        {"no extensions", HelloMaker{}.no_extensions().message(), HelloFault::None},
        {"an empty block of them", HelloMaker{}.message(), HelloFault::None},
        {"nothing", from_hex("01000000"), HelloFault::Truncated},
        {"longer than is read", from_hex("0100fffd"), HelloFault::TooLong},
        {"SSL 2.0", HelloMaker{}.legacy_version(0x0002).message(), HelloFault::BadVersion},
        {"the version before SSL 3.0", HelloMaker{}.legacy_version(0x02FF).message(),
         HelloFault::BadVersion},
        {"a version that nobody knows", HelloMaker{}.legacy_version(0x7F12).message(),
         HelloFault::None},
        {"a long session id", HelloMaker{}.session_id(Octets(255)).message(), HelloFault::None},
        {"no cipher suites", HelloMaker{}.ciphers({}).message(), HelloFault::BadCipherSuites},
        {"half of one", HelloMaker{}.ciphers(Octets(1)).message(), HelloFault::BadCipherSuites},
        {"one and a half", HelloMaker{}.ciphers(Octets(3)).message(), HelloFault::None},
        {"no compression", HelloMaker{}.compression({}).message(), HelloFault::BadCompression},
        {"more behind the extensions", HelloMaker{}.trailing(Octets(1)).message(),
         HelloFault::BadExtensions},
        {"one byte in their place", HelloMaker{}.no_extensions().trailing(Octets(1)).message(),
         HelloFault::BadExtensions},
        {"an extension that goes on",
         HelloMaker{}.no_extensions().trailing(from_hex("000500ff000200")).message(),
         HelloFault::BadExtensions},
        {"unknown extensions", HelloMaker{}.extension(0xFE0D, Octets(200)).message(),
         HelloFault::None},
        {"the same twice", HelloMaker{}.alpn({"h2"}).alpn({"h3"}).message(),
         HelloFault::RepeatedExtension},
        {"another one twice", HelloMaker{}.extension(34, {}).extension(34, {}).message(),
         HelloFault::None},
        {"versions twice", HelloMaker{}.versions({0x0304}).versions({0x0303}).message(),
         HelloFault::RepeatedExtension},
        {"algorithms twice", HelloMaker{}.algorithms({0x0403}).algorithms({0x0804}).message(),
         HelloFault::RepeatedExtension},
        {"no server names", server_name({}), HelloFault::None},
        {"an empty name", server_name(host("")), HelloFault::None},
        {"an empty name and another", server_name(joined(host(""), host("b"))),
         HelloFault::BadServerName},
        {"a zero byte", server_name(host({"a\0b", 3})), HelloFault::BadServerName},
        {"253 bytes", server_name(host(labels(61))), HelloFault::None},
        {"254 bytes", server_name(host(labels(62))), HelloFault::BadServerName},
        {"a port", server_name(host("a.example:443")), HelloFault::BadServerName},
        {"two names", server_name(joined(host("a"), host("b"))), HelloFault::BadServerName},
        {"another kind of name before it", server_name(joined(host("x", 7), host("b"))),
         HelloFault::None},
        {"a name that goes on", server_name(from_hex("000009616263")), HelloFault::BadServerName},
        {"more behind the names",
         HelloMaker{}.extension(0, joined(behind16(host("a")), Octets(1))).message(),
         HelloFault::BadServerName},
        {"an empty server_name", HelloMaker{}.extension(0, {}).message(), HelloFault::None},
        {"an empty list of protocols", HelloMaker{}.alpn({}).message(), HelloFault::None},
        {"an empty protocol", HelloMaker{}.alpn({"", "h2"}).message(), HelloFault::None},
        {"a protocol that goes on",
         HelloMaker{}.extension(16, behind16(from_hex("0268"))).message(), HelloFault::BadAlpn},
        {"more behind the protocols",
         HelloMaker{}
             .extension(16, joined(behind16(behind8(octets_of("h2"))), Octets(1)))
             .message(),
         HelloFault::BadAlpn},
        {"no versions", HelloMaker{}.versions({}).message(), HelloFault::BadSupportedVersions},
        {"half a version", HelloMaker{}.extension(43, behind8(Octets(3))).message(),
         HelloFault::BadSupportedVersions},
        {"no algorithms", HelloMaker{}.algorithms({}).message(),
         HelloFault::BadSignatureAlgorithms},
        {"half an algorithm", HelloMaker{}.extension(13, behind16(Octets(5))).message(),
         HelloFault::BadSignatureAlgorithms},
    };
}

TEST(ClientHello, FaultsHaveNames) {
    for (const Row& row : rows()) {
        ClientHello hello;
        const HelloRead read = read_client_hello(row.message, hello);
        EXPECT_EQ(kHelloFaults[static_cast<std::size_t>(read.fault)].name,
                  kHelloFaults[static_cast<std::size_t>(row.fault)].name)
            << row.name;
        EXPECT_EQ(read.outcome,
                  row.fault == HelloFault::None ? HelloOutcome::Whole : HelloOutcome::Malformed)
            << row.name;
    }
}

TEST(ClientHello, OtherMessagesAreNamedByTheirType) {
    ClientHello hello;
    const HelloRead read = read_client_hello(from_hex("02"), hello);
    EXPECT_EQ(read.outcome, HelloOutcome::OtherHandshake);
    EXPECT_EQ(read.handshake_type, 2);
}

}  // namespace
}  // namespace sluice::client_hello_test
