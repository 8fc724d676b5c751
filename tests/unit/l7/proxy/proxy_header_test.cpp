#include "lib/l7/proxy/proxy_header.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace sluice::proxy_header_test {
namespace {

using namespace std::string_view_literals;

const std::string kSignature{"\r\n\r\n\0\r\nQUIT\n"sv};

std::string version_2(std::string_view command_and_family, const std::string& behind) {
    std::string header = kSignature;
    header += command_and_family;
    header += static_cast<char>(behind.size() >> 8);
    header += static_cast<char>(behind.size() & 0xFF);
    return header + behind;
}

struct Named {
    std::string what;
    std::string bytes;
    std::string client;
    unsigned port;
};

TEST(ProxyHeader, NamesAClient) {
    const std::string v4{"\xC0\x00\x02\x01\xC6\x33\x64\x02\x12\x67\x01\xBB"sv};
    const std::string v6 = std::string{"\x20\x01\x0D\xB8"sv} + std::string(11, '\0') + "\x07" +
                           std::string(16, '\xFE') + std::string{"\xFF\xFE\x00\x50"sv};
    const std::string mapped = std::string(10, '\0') + std::string{"\xFF\xFF\xC0\x00\x02\x01"sv} +
                               std::string(16, '\xFE') + std::string{"\x12\x67\x00\x50"sv};
    const std::vector<Named> rows{
        {"TCP4", "PROXY TCP4 192.0.2.1 198.51.100.2 4711 443\r\n", "192.0.2.1", 4711},
        {"TCP6", "PROXY TCP6 2001:db8::7 2001:db8::1 65535 0\r\n", "2001:db8::7", 65535},
        {"binary, IPv4", version_2("\x21\x11", v4), "192.0.2.1", 4711},
        {"of datagrams", version_2("\x21\x12", v4), "192.0.2.1", 4711},
        {"binary, IPv6", version_2("\x21\x21", v6), "2001:db8::7", 65534},
        // IPv4 as a proxy with one socket for both knows it: the same client.
        {"TCP6, IPv4 inside", "PROXY TCP6 ::ffff:192.0.2.1 ::ffff:198.51.100.2 4711 443\r\n",
         "192.0.2.1", 4711},
        {"TCP6, IPv4 translated", "PROXY TCP6 64:ff9b::192.0.2.1 2001:db8::1 4711 443\r\n",
         "64:ff9b::c000:201", 4711},
        {"binary, IPv4 inside", version_2("\x21\x21", mapped), "192.0.2.1", 4711},
        {"with vectors", version_2("\x21\x11", v4 + std::string{"\x04\x00\x02xy"sv}), "192.0.2.1",
         4711},
    };
    for (const Named& row : rows) {
        const ProxyHeader header = read_proxy_header(bytes_of(row.bytes + "GET / HTTP/1.1"));
        ASSERT_EQ(header.status, ProxyStatus::Complete) << row.what;
        EXPECT_EQ(header.size, row.bytes.size()) << row.what;
        EXPECT_EQ(header.kind, ProxyClient::Named) << row.what;
        EXPECT_EQ(to_text(header.client.version, header.client.address), row.client) << row.what;
        EXPECT_EQ(header.port, row.port) << row.what;
        EXPECT_EQ(header.version, row.bytes.front() == 'P' ? 1 : 2) << row.what;
    }
}

struct Nameless {
    std::string what;
    std::string bytes;
    ProxyClient kind;
};

TEST(ProxyHeader, MayNameNobody) {
    using namespace std::string_literals;
    const std::vector<Nameless> rows{
        {"UNKNOWN", "PROXY UNKNOWN\r\n", ProxyClient::Unknown},
        {"UNKNOWN and more", "PROXY UNKNOWN ffff::1 x 1\r\n", ProxyClient::Unknown},
        {"LOCAL", version_2("\x20\x00"sv, ""), ProxyClient::Local},
        {"LOCAL with addresses", version_2("\x20\x11", std::string(12, 'x')), ProxyClient::Local},
        {"LOCAL, cut", version_2("\x20\x11", "x"), ProxyClient::Local},
        {"AF_UNSPEC", version_2("\x21\x00"sv, "xyz"), ProxyClient::Unknown},
        {"AF_UNIX", version_2("\x21\x31", std::string(216, 'x')), ProxyClient::Unknown},
    };
    for (const Nameless& row : rows) {
        const ProxyHeader header = read_proxy_header(bytes_of(row.bytes));
        ASSERT_EQ(header.status, ProxyStatus::Complete) << row.what;
        EXPECT_EQ(header.size, row.bytes.size()) << row.what;
        EXPECT_EQ(header.kind, row.kind) << row.what;
        EXPECT_EQ(header.client.version, IpVersion::None) << row.what;
    }
}

struct Faulty {
    std::string what;
    std::string bytes;
    ProxyFault fault;
};

std::vector<Faulty> faulty() {
    using enum ProxyFault;
    const std::string line = "PROXY TCP4 192.0.2.1 198.51.100.2 ";
    return {
        {"no end", "PROXY UNKNOWN " + std::string(200, 'x') + "\r\n", NoLineEnd},
        {"LF alone", line + "1 2\n", BadLine},
        {"nothing", "PROXY \r\n", BadLine},
        {"TCP5", "PROXY TCP5 192.0.2.1 198.51.100.2 1 2\r\n", BadLine},
        {"small letters", "PROXY tcp4 192.0.2.1 198.51.100.2 1 2\r\n", BadLine},
        {"an address of the other family", "PROXY TCP6 192.0.2.1 198.51.100.2 1 2\r\n", BadLine},
        {"two spaces", "PROXY TCP4  192.0.2.1 198.51.100.2 1 2\r\n", BadLine},
        {"a name", "PROXY TCP4 a.example 198.51.100.2 1 2\r\n", BadLine},
        {"one port", line + "1\r\n", BadLine},
        {"a port beyond all", line + "65536 2\r\n", BadLine},
        {"a signed port", line + "+1 2\r\n", BadLine},
        {"a word more", line + "1 2 3\r\n", BadLine},
        {"a space behind", line + "1 2 \r\n", BadLine},
        {"a request", "PROXY / HTTP/1.1\r\n", BadLine},
        {"version 1 in binary", version_2("\x11\x11", std::string(12, 'x')), BadVersion},
        {"another command", version_2("\x22\x11", std::string(12, 'x')), BadVersion},
        {"another family", version_2("\x21\x41", std::string(216, 'x')), BadFamily},
        {"another protocol", version_2("\x21\x13", std::string(12, 'x')), BadFamily},
        {"a family without a protocol", version_2("\x21\x10", std::string(12, 'x')), BadFamily},
        {"IPv4 without room", version_2("\x21\x11", std::string(11, 'x')), TooShort},
        {"IPv6 without room", version_2("\x21\x21", std::string(35, 'x')), TooShort},
        {"a long one", version_2("\x21\x11", std::string(kMaxProxyHeader - 15, 'x')), BeyondLimit},
    };
}

TEST(ProxyHeader, TellsEveryFault) {
    std::vector<bool> seen(kProxyFaultNames.size());
    for (const Faulty& row : faulty()) {
        const ProxyHeader header = read_proxy_header(bytes_of(row.bytes));
        EXPECT_EQ(header.status, ProxyStatus::Malformed) << row.what;
        EXPECT_EQ(header.fault, row.fault) << row.what;
        seen[static_cast<std::size_t>(header.fault)] = true;
    }
    for (std::size_t fault = 1; fault < seen.size(); ++fault) {
        EXPECT_TRUE(seen[fault]) << kProxyFaultNames[fault];
    }
}

TEST(ProxyHeader, IsNoneWhereTheStreamBeginsOtherwise) {
    for (const std::string& bytes :
         {std::string{"GET / HTTP/1.1\r\n"}, std::string{"PRI * HTTP/2.0\r\n"},
          std::string{"PROXYTCP4"}, std::string{"\r\n\r\nGET"}, std::string{"\x16\x03\x01"},
          kSignature.substr(0, 11) + "\r"}) {
        EXPECT_EQ(read_proxy_header(bytes_of(bytes)).status, ProxyStatus::NotProxy) << bytes;
    }
}

TEST(ProxyHeader, DoesNotDependOnThePieces) {
    std::vector<std::string> all{"PROXY TCP4 192.0.2.1 198.51.100.2 1 2\r\nx", "PROXY UNKNOWN\r\nx",
                                 version_2("\x21\x11", std::string(12, 'x')) + "x", "PROXIED",
                                 kSignature + "\x20\x11"};
    for (const Faulty& row : faulty()) {
        all.push_back(row.bytes);
    }
    for (const std::string& bytes : all) {
        const ProxyHeader whole = read_proxy_header(bytes_of(bytes));
        bool is_decided = false;
        for (std::size_t size = 0; size <= bytes.size(); ++size) {
            const ProxyHeader part = read_proxy_header(bytes_of(bytes).first(size));
            if (part.status == ProxyStatus::NeedMore) {
                EXPECT_FALSE(is_decided) << bytes << size;
                EXPECT_GT(part.need, size) << bytes;
                continue;
            }
            is_decided = true;
            EXPECT_EQ(part.status, whole.status) << bytes << size;
            EXPECT_EQ(part.size, whole.size) << bytes << size;
            EXPECT_EQ(part.fault, whole.fault) << bytes << size;
        }
    }
}

TEST(ProxyHeader, OneOfTheLimitIsWhole) {
    const std::string longest =
        version_2("\x21\x11", std::string(kMaxProxyHeader - 16, 'x')) + "GET";
    EXPECT_EQ(read_proxy_header(bytes_of(longest)).size, kMaxProxyHeader);
    const std::string line = "PROXY UNKNOWN" + std::string(kMaxProxyLine - 15, ' ') + "\r\n";
    EXPECT_EQ(read_proxy_header(bytes_of(line)).size, kMaxProxyLine);
}

}  // namespace
}  // namespace sluice::proxy_header_test
