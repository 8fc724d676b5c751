#include "tests/pktgen/contents.hpp"

#include "lib/base/bytes.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace sluice::pktgen {
namespace {

constexpr std::string_view kHost = "www.example.com";

void put8(Contents& out, std::size_t value) {
    out.push_back(static_cast<std::byte>(value & 0xFF));
}
void put16(Contents& out, std::size_t value) {
    put8(out, value >> 8);
    put8(out, value);
}
void put_words(Contents& out, std::initializer_list<std::uint16_t> words) {
    for (const std::uint16_t word : words) {
        put16(out, word);
    }
}
void put_text(Contents& out, std::string_view text) {
    const ByteView bytes = bytes_of(text);
    out.insert(out.end(), bytes.begin(), bytes.end());
}
void put_all(Contents& out, const Contents& more) {
    out.insert(out.end(), more.begin(), more.end());
}

// RFC 1035, 3.1: labels, each behind its length.
void put_dns_name(Contents& out, std::string_view name) {
    while (!name.empty()) {
        const std::size_t end = std::min(name.find('.'), name.size());
        put8(out, end);
        put_text(out, name.substr(0, end));
        name.remove_prefix(std::min(end + 1, name.size()));
    }
    put8(out, 0);
}

struct DnsHead {
    std::uint16_t flags;
    std::uint16_t answers;
    std::uint16_t type;
};
Contents dns_message(const DnsHead& head) {
    constexpr std::uint16_t kInternet = 1;
    Contents out;
    put_words(out, {0x5347, head.flags, 1, head.answers, 0, 0});
    put_dns_name(out, kHost);
    put_words(out, {head.type, kInternet});
    return out;
}

void put_extension(Contents& out, std::uint16_t type, const Contents& data) {
    put16(out, type);
    put16(out, data.size());
    put_all(out, data);
}

// RFC 6066, 3.
Contents server_name() {
    Contents out;
    put16(out, kHost.size() + 3);
    put8(out, 0);
    put16(out, kHost.size());
    put_text(out, kHost);
    return out;
}

Contents hello_extensions() {
    constexpr std::uint16_t kServerName = 0;
    constexpr std::uint16_t kSupportedGroups = 10;
    constexpr std::uint16_t kSignatureAlgorithms = 13;
    constexpr std::uint16_t kAlpn = 16;
    constexpr std::uint16_t kSupportedVersions = 43;
    constexpr std::uint16_t kKeyShare = 51;
    Contents groups;
    put_words(groups, {4, 0x001D, 0x0017});
    Contents algorithms;
    put_words(algorithms, {4, 0x0403, 0x0804});
    Contents protocols;
    put16(protocols, 9);
    put8(protocols, 8);
    put_text(protocols, "http/1.1");
    Contents versions;
    put8(versions, 4);
    put_words(versions, {0x0304, 0x0303});
    Contents share;
    put_words(share, {36, 0x001D, 32});
    share.resize(share.size() + 32, std::byte{0x5A});

    Contents out;
    put_extension(out, kServerName, server_name());
    put_extension(out, kSupportedGroups, groups);
    put_extension(out, kSignatureAlgorithms, algorithms);
    put_extension(out, kAlpn, protocols);
    put_extension(out, kSupportedVersions, versions);
    put_extension(out, kKeyShare, share);
    return out;
}

}  // namespace

Contents http_get() {
    Contents out;
    put_text(out, "GET /index.html HTTP/1.1\r\nHost: ");
    put_text(out, kHost);
    put_text(out, "\r\nUser-Agent: sluice-pktgen\r\nAccept: */*\r\n\r\n");
    return out;
}

// RFC 8446, 4.1.2, in one record.
Contents tls_client_hello() {
    Contents body;
    put16(body, 0x0303);
    body.resize(body.size() + 32, std::byte{0xA5});
    put8(body, 32);
    body.resize(body.size() + 32, std::byte{0x3C});
    put_words(body, {6, 0x1301, 0x1302, 0xC02F});
    put8(body, 1);
    put8(body, 0);
    const Contents extensions = hello_extensions();
    put16(body, extensions.size());
    put_all(body, extensions);

    Contents out;
    put8(out, 22);
    put16(out, 0x0301);
    put16(out, body.size() + 4);
    put8(out, 1);
    put8(out, 0);
    put16(out, body.size());
    put_all(out, body);
    return out;
}

Contents dns_query() {
    constexpr std::uint16_t kRecursionDesired = 0x0100;
    constexpr std::uint16_t kAddress = 1;
    return dns_message({kRecursionDesired, 0, kAddress});
}

Contents dns_large_answer() {
    constexpr std::uint16_t kAnswer = 0x8180;
    constexpr std::uint16_t kAny = 255;
    constexpr std::uint16_t kText = 16;
    constexpr std::uint16_t kNameOfQuestion = 0xC00C;
    constexpr std::size_t kStrings = 5;
    constexpr std::size_t kStringSize = 230;
    Contents out = dns_message({kAnswer, 1, kAny});
    put_words(out, {kNameOfQuestion, kText, 1, 0, 3600});
    put16(out, kStrings * (kStringSize + 1));
    for (std::size_t string = 0; string < kStrings; ++string) {
        put8(out, kStringSize);
        out.resize(out.size() + kStringSize, std::byte{'x'});
    }
    return out;
}

Contents ntp_monlist_answer() {
    constexpr std::size_t kEntries = 6;
    constexpr std::size_t kEntrySize = 72;
    Contents out;
    put_words(out, {0xD700, 0x032A, kEntries, kEntrySize});
    out.resize(out.size() + kEntries * kEntrySize, std::byte{0x11});
    return out;
}

}  // namespace sluice::pktgen
