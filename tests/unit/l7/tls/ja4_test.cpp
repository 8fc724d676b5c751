#include "lib/l7/tls/ja4.hpp"

#include "tests/unit/l7/hello_maker.hpp"
#include "tests/unit/l7/quic/rfc_packets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace sluice::ja4_test {
namespace {

using test::behind16;
using test::from_hex;
using test::HelloMaker;
using test::Octets;
using test::pairs;
using test::put;
using test::put16;

std::string ja4_of(const Octets& message, HelloCarrier carrier = HelloCarrier::Tcp) {
    ClientHello hello;
    EXPECT_EQ(read_client_hello(message, hello).outcome, HelloOutcome::Whole);
    const std::optional<Ja4> ja4 = make_ja4(hello, carrier);
    return ja4 ? std::string{ja4->text()} : "none";
}

// Extensions in this order; those that are read get content.
HelloMaker with_extensions(std::vector<unsigned> types, const Octets& algorithms) {
    HelloMaker maker;
    for (const unsigned type : types) {
        switch (type) {
            case 0x0000:
                maker.sni("accounts.google.com");
                break;
            case 0x0010:
                maker.alpn({"h2", "http/1.1"});
                break;
            case 0x002B:
                maker.versions({0xDADA, 0x0304, 0x0303});
                break;
            case 0x000D:
                maker.extension(13, behind16(algorithms));
                break;
            default:
                maker.extension(type, Octets(3));
        }
    }
    return maker;
}

const Octets kChromeCiphers =
    pairs({0x3A3A, 0x1301, 0x1302, 0x1303, 0xC02B, 0xC02F, 0xC02C, 0xC030, 0xCCA9, 0xCCA8, 0xC013,
           0xC014, 0x009C, 0x009D, 0x002F, 0x0035});
const std::vector<unsigned> kChromeExtensions{0x001B, 0x0000, 0x0033, 0x0010, 0x4469, 0x0017,
                                              0x002D, 0x000D, 0x0005, 0x0023, 0x0012, 0x002B,
                                              0xFF01, 0x000B, 0x000A, 0x0015};
const Octets kChromeAlgorithms =
    pairs({0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501, 0x0806, 0x0601});

// The worked example of FoxIO's text.
TEST(Ja4, TheExampleOfItsText) {
    const HelloMaker chrome = with_extensions(kChromeExtensions, kChromeAlgorithms);
    EXPECT_EQ(ja4_of(HelloMaker{chrome}.ciphers(kChromeCiphers).message()),
              "t13d1516h2_8daaf6152771_e5627efa2ab1");
}

TEST(Ja4, OrderAndGreaseChangeNothing) {
    std::vector<unsigned> types = kChromeExtensions;
    std::reverse(types.begin(), types.end());
    types.insert(types.begin(), 0x8A8A);
    types.push_back(0xFAFA);
    EXPECT_EQ(ja4_of(with_extensions(types, kChromeAlgorithms).ciphers(kChromeCiphers).message()),
              "t13d1516h2_8daaf6152771_e5627efa2ab1");
}

// FoxIO's snapshot of sigalg-grease.pcapng, with the lists that give it.
TEST(Ja4, GreaseAmongSignatureAlgorithmsCountsNotEither) {
    Octets algorithms = pairs({0x2A2A, 0x0904, 0x0905, 0x0906});
    put(algorithms, kChromeAlgorithms);
    const HelloMaker chrome =
        with_extensions({0xCA34, 0x0000, 0x0005, 0x000A, 0x000B, 0x000D, 0x0010, 0x0012, 0x0017,
                         0x001B, 0x0023, 0x002B, 0x002D, 0x0033, 0x44CD, 0xFE0D, 0xFF01},
                        algorithms);
    EXPECT_EQ(ja4_of(HelloMaker{chrome}.ciphers(kChromeCiphers).message()),
              "t13d1517h2_8daaf6152771_cb7bf5808d99");
}

// The text gives this hash of the extensions alone.
TEST(Ja4, WithoutSignatureAlgorithmsThereIsNoUnderscore) {
    const Octets message =
        with_extensions(kChromeExtensions, kChromeAlgorithms).ciphers(kChromeCiphers).message();
    ClientHello hello;
    ASSERT_EQ(read_client_hello(message, hello).outcome, HelloOutcome::Whole);
    hello.signature_algorithms = {};
    EXPECT_EQ(make_ja4(hello, HelloCarrier::Tcp)->text(), "t13d1516h2_8daaf6152771_6d807ffa2a79");
}

TEST(Ja4, WhatIsNotThereIsZeroes) {
    EXPECT_EQ(ja4_of(HelloMaker{}.ciphers(pairs({0x0A0A})).no_extensions().message()),
              "t12i000000_000000000000_000000000000");
    EXPECT_EQ(ja4_of(HelloMaker{}.ciphers(pairs({0x0A0A})).sni("a").alpn({"h2"}).message()),
              "t12d0002h2_000000000000_000000000000");
}

// Worked out by hand, with Python's hashlib.
TEST(Ja4, TheHelloOfTheQuicStandards) {
    EXPECT_EQ(ja4_of(from_hex(test::kRfcHello), HelloCarrier::Quic),
              "q13d0211an_62ed6f6ca7ad_4d634acda6c0");
}

TEST(Ja4, VersionsHaveTwoCharacters) {
    const std::pair<unsigned, std::string> rows[] = {{0x0304, "13"}, {0x0303, "12"},
                                                     {0x0302, "11"}, {0x0301, "10"},
                                                     {0x0300, "s3"}, {0x7F1C, "00"}};
    for (const auto& [version, text] : rows) {
        EXPECT_EQ(ja4_of(HelloMaker{}.versions({version}).message()).substr(1, 2), text);
    }
    EXPECT_EQ(ja4_of(HelloMaker{}.legacy_version(0x0302).message()).substr(1, 2), "11");
}

TEST(Ja4, ProtocolsHaveTheirFirstAndLastCharacter) {
    // From the text.
    const std::pair<std::string_view, std::string> rows[] = {
        {"h2", "h2"},
        {"http/1.1", "h1"},
        {"", "00"},
        {"x", "xx"},
        {"\xAB", "ab"},
        {"\xAB\xCD", "ad"},
        {"\x30\xAB", "3b"},
        {"\x30\x31\xAB\xCD", "3d"},
        {"\x30\xAB\xCD\x31", "01"},
    };
    for (const auto& [protocol, text] : rows) {
        EXPECT_EQ(ja4_of(HelloMaker{}.alpn({protocol, "h2"}).message()).substr(8, 2), text);
    }
    EXPECT_EQ(ja4_of(HelloMaker{}.alpn({}).message()).substr(8, 2), "00");
}

TEST(Ja4, ManyAreNinetyNineAndTooManyAreNone) {
    Octets ciphers;
    for (unsigned i = 0; i < kMaxJa4Values; ++i) {
        put16(ciphers, i + 1);
        put16(ciphers, 0x1A1A);
    }
    EXPECT_EQ(ja4_of(HelloMaker{}.ciphers(ciphers).message()).substr(4, 2), "99");
    put16(ciphers, 0x1301);
    EXPECT_EQ(ja4_of(HelloMaker{}.ciphers(ciphers).message()), "none");
    HelloMaker extended;
    for (unsigned i = 0; i <= kMaxJa4Values; ++i) {
        extended.extension(0x5000 + i, {});
    }
    EXPECT_EQ(ja4_of(extended.message()), "none");
}

}  // namespace
}  // namespace sluice::ja4_test
