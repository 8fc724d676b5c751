#include "lib/l7/dns/dns_name.hpp"

#include "tests/packets/dns_bytes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace sluice::dns_name_test {
namespace {

using test::dns_labels;

struct Case {
    const char* what;
    std::string message;
    std::size_t at;
    DnsParsed parsed;
    std::string text;
    std::size_t end;
};

std::string of(std::initializer_list<int> octets) {
    std::string text;
    for (const int octet : octets) {
        text += static_cast<char>(octet);
    }
    return text;
}

std::string repeated(std::string_view text, std::size_t times) {
    std::string all;
    while (times-- != 0) {
        all += text;
    }
    return all;
}

// A root, and so many pointers, each to the one before.
std::string chain(int pointers) {
    std::string text = of({0, 0});
    for (int i = 0; i < pointers; ++i) {
        text += of({0xC0, i == 0 ? 0 : 2 * i});
    }
    return text;
}

const std::string k63(63, 'a');

// 255 octets: three labels of 63, one of 61, and the root.
const std::string kLongest = dns_labels(k63 + "." + k63 + "." + k63 + "." + k63.substr(0, 61));

const Case kCases[] = {
    {"a name", dns_labels("www.example.com"), 0, DnsParsed::Ok, "www.example.com", 17},
    {"in small letters", dns_labels("WwW.EXAMPLE.cOm"), 0, DnsParsed::Ok, "www.example.com", 17},
    {"the root", dns_labels(""), 0, DnsParsed::Ok, ".", 1},
    {"behind other bytes", "xx" + dns_labels("a"), 2, DnsParsed::Ok, "a", 5},
    {"a dot and a backslash in a label", of({4, 'a', '.', '\\', 'b', 0}), 0, DnsParsed::Ok,
     "a\\.\\\\b", 6},
    {"octets that are no printable ones", of({5, 0, ' ', 0x7F, 0xC3, 0xFF, 0}), 0, DnsParsed::Ok,
     "\\000\\032\\127\\195\\255", 7},
    {"letters beyond ASCII stay as they are", of({2, 0xC3, 0x84, 0}), 0, DnsParsed::Ok,
     "\\195\\132", 4},
    {"what other tools escape stands for itself", of({5, '"', '(', ';', '@', '$', 0}), 0,
     DnsParsed::Ok, "\"(;@$", 7},
    {"an underscore and digits", dns_labels("_sip._tcp.1"), 0, DnsParsed::Ok, "_sip._tcp.1", 13},
    {"255 octets", kLongest, 0, DnsParsed::Ok,
     k63 + "." + k63 + "." + k63 + "." + k63.substr(0, 61), 255},
    {"256 octets",
     of({1, 'x'}) + kLongest.substr(0, 192) + of({60}) + k63.substr(0, 60) + of({1, 'y', 0}), 0,
     DnsParsed::NameTooLong, "", 0},
    {"127 labels", repeated(of({1, 'z'}), 127) + of({0}), 0, DnsParsed::Ok,
     repeated("z.", 126) + "z", 255},
    {"128 labels", repeated(of({1, 'z'}), 128) + of({0}), 0, DnsParsed::NameTooLong, "", 0},
    {"compressed", dns_labels("example.com") + of({3, 'w', 'w', 'w', 0xC0, 0}), 13, DnsParsed::Ok,
     "www.example.com", 19},
    {"compressed twice", of({1, 'c', 0, 1, 'b', 0xC0, 0, 1, 'a', 0xC0, 3}), 7, DnsParsed::Ok,
     "a.b.c", 11},
    {"a pointer alone", dns_labels("a") + of({0xC0, 0}), 3, DnsParsed::Ok, "a", 5},
    {"as many pointers as a name may have", chain(16), 32, DnsParsed::Ok, ".", 34},
    {"one pointer more", chain(17), 34, DnsParsed::BadPointer, "", 0},
    {"a pointer to itself", of({0xC0, 0}), 0, DnsParsed::BadPointer, "", 0},
    {"a pointer to the labels that it ends", of({1, 'a', 0xC0, 0}), 0, DnsParsed::BadPointer, "",
     0},
    {"a pointer into the labels that it ends", of({1, 'a', 1, 'b', 0xC0, 2}), 0,
     DnsParsed::BadPointer, "", 0},
    {"a pointer forwards", of({0xC0, 2, 0}), 0, DnsParsed::BadPointer, "", 0},
    {"two pointers that lead to each other", of({0xC0, 2, 0xC0, 0}), 2, DnsParsed::BadPointer, "",
     0},
    {"a pointer that is cut", of({1, 'a', 0xC0}), 0, DnsParsed::Truncated, "", 0},
    {"the bits 01", of({0x41, 'a', 0}), 0, DnsParsed::BadLabel, "", 0},
    {"the bits 10", of({0x80, 0}), 0, DnsParsed::BadLabel, "", 0},
    {"no root label", of({1, 'a'}), 0, DnsParsed::Truncated, "", 0},
    {"a label that is cut", of({5, 'a', 'b'}), 0, DnsParsed::Truncated, "", 0},
    {"a length byte and nothing else", of({5}), 0, DnsParsed::Truncated, "", 0},
    {"nothing", "", 0, DnsParsed::Truncated, "", 0},
    {"nothing at its place", dns_labels("a"), 3, DnsParsed::Truncated, "", 0},
};

TEST(DnsName, IsWalkedAndWritten) {
    for (const Case& row : kCases) {
        SCOPED_TRACE(row.what);
        const ByteView message = bytes_of(row.message);
        const DnsNameWalk walk = walk_dns_name(message, row.at);
        ASSERT_EQ(walk.parsed, row.parsed);
        if (walk.parsed != DnsParsed::Ok) {
            continue;
        }
        EXPECT_EQ(walk.end, row.end);
        std::array<std::byte, kMaxDnsNameText> text;
        const std::size_t size = write_dns_name(message, row.at, text);
        EXPECT_EQ(std::string(reinterpret_cast<const char*>(text.data()), size), row.text);
    }
}

TEST(DnsName, SaysHowManyStepsItTook) {
    EXPECT_EQ(walk_dns_name(bytes_of(dns_labels("a.b")), 0).steps, 3U);
    EXPECT_EQ(walk_dns_name(bytes_of(chain(3)), 6).steps, 4U);
}

// Each octet takes four characters at most.
TEST(DnsName, HasRoomForTheLongestOfEscapes) {
    std::string name;
    for (const std::size_t size : {63U, 63U, 63U, 61U}) {
        name += static_cast<char>(size) + std::string(size, '\xFF');
    }
    name += '\0';
    ASSERT_EQ(walk_dns_name(bytes_of(name), 0).parsed, DnsParsed::Ok);
    std::array<std::byte, kMaxDnsNameText> text;
    EXPECT_EQ(write_dns_name(bytes_of(name), 0, text), 4U * 250 + 3);
}

}  // namespace
}  // namespace sluice::dns_name_test
