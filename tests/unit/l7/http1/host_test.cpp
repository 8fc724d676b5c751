#include "lib/l7/http1/host.hpp"

#include "lib/l7/http1/texts.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace sluice::host_test {
namespace {

struct Row {
    std::string_view sent;
    std::string_view host;
    bool is_bad = false;
};

TEST(Host, HasOneForm) {
    const Row rows[] = {
        {"example.com", "example.com"},
        {"Example.COM", "example.com"},
        {"example.com:8080", "example.com"},
        {"example.com:", "example.com"},
        {"EXAMPLE.com.:80", "example.com"},
        {"example.com.", "example.com"},
        {"example.com..", "example.com."},
        {".", "."},
        {"", ""},
        {":80", ""},
        {"192.0.2.1:80", "192.0.2.1"},
        {"[2001:DB8::1]:443", "[2001:db8::1]"},
        {"[::1]", "[::1]"},
        {"a_b.example", "a_b.example"},
        {"a%41.example", "a%41.example", true},
        {"%6Cogin.example:80", "%6cogin.example:80", true},
        {"a~.example", "a~.example", true},
        {"a+b", "a+b", true},
        {"xn--a-1.example", "xn--a-1.example"},
        {"xn--mnchen-3ya.de", "xn--mnchen-3ya.de"},
        {"XN--Mnchen-3ya.de:80", "xn--mnchen-3ya.de"},
        {"a--b-.xn-.example", "a--b-.xn-.example"},
        {"axn--b-.example", "axn--b-.example"},
        {"a--b.xn---a", "a--b.xn---a"},
        {"xn--login-.example", "xn--login-.example", true},
        {"www.xn--login-.example:80", "www.xn--login-.example:80", true},
        {"Xn--Login-.Example", "xn--login-.example", true},
        {"XN--LOGIN-", "xn--login-", true},
        {"xn--.example", "xn--.example", true},
        {"xn---.example.", "xn---.example.", true},
        {"example.org.xn--", "example.org.xn--", true},
        {"a_b.xn--c-", "a_b.xn--c-", true},
        {"a.name.whose.31st.byte.is.in.xn--login-.example",
         "a.name.whose.31st.byte.is.in.xn--login-.example", true},
        {"a.1a", "a.1a"},
        {"1.example", "1.example"},
        {"a.de", "a.de"},
        {"web1", "web1"},
        {"a.0x1g", "a.0x1g"},
        {"255.0.10.1", "255.0.10.1"},
        {"255.0.10.1.:80", "255.0.10.1"},
        {"256.0.10.1", "256.0.10.1", true},
        {"255.0.010.1", "255.0.010.1", true},
        {"1.2.3.4.5", "1.2.3.4.5", true},
        {"127.1", "127.1", true},
        {"3232235777:80", "3232235777:80", true},
        {"0xC0.0xA8.1.0x1", "0xc0.0xa8.1.0x1", true},
        {"0x", "0x", true},
        {"a.09", "a.09", true},
        {"A.1.", "a.1.", true},
        {"1", "1", true},
        {"[2001:db8::192.0.2.1]", "[2001:db8::c000:201]"},
        {"[0:0:0:0:0:0:0:1]", "[::1]"},
        {"[2001:0DB8:0::0:1]:80", "[2001:db8::1]"},
        {"[::ffff:c000:201]", "[::ffff:192.0.2.1]"},
        {"[1:2]", "[1:2]", true},
        {"[:::]", "[:::]", true},
        {"[::1::]", "[::1::]", true},
        {"[12345::1]", "[12345::1]", true},
        {"[fe80::1%25eth0]", "[fe80::1%25eth0]", true},
        {"[v1.a:b]", "[v1.a:b]", true},
        {std::string_view{"a.long.name.that.fills.more.than.one.block.of.bytes.0x1"},
         "a.long.name.that.fills.more.than.one.block.of.bytes.0x1", true},
        {"a.example,b.example", "a.example,b.example", true},
        {"[::1", "[::1", true},
        {"[]", "[]", true},
        {"[Login.Example]", "login.example", true},
        {"[login.example.]:80", "login.example", true},
        {"[192.0.2.1]", "192.0.2.1", true},
        {"[login.example]x", "[login.example]x", true},
        {"[a b]", "[a b]", true},
        {"[::1]x", "[::1]x", true},
        {"[::1]:8o", "[::1]:8o", true},
        {"2001:db8::1", "2001:db8::1", true},
        {"h:999999", "h:999999", true},
        {"H:x", "h:x", true},
        {"user@h", "user@h", true},
        {"a b", "a b", true},
        {"h/x", "h/x", true},
        {"h\xC3\xA9", "h\xC3\xA9", true},
    };
    std::array<std::byte, 64> room;
    for (const Row& row : rows) {
        HeadShapes shapes;
        EXPECT_EQ(http1::as_text(normalise_host(bytes_of(row.sent), room, shapes)), row.host)
            << row.sent;
        EXPECT_EQ(shapes.has(HeadShape::BadHost), row.is_bad) << row.sent;
    }
}

TEST(Host, IsAViewOfWhatWasSentWhereNoLetterChanges) {
    const std::string_view sent = "host.example.:80";
    HeadShapes shapes;
    EXPECT_EQ(normalise_host(bytes_of(sent), {}, shapes).data(), bytes_of(sent).data());
    EXPECT_TRUE(shapes.empty());
}

TEST(Host, AnAddressOfOneTextIsAViewOfWhatWasSent) {
    const std::string_view sent = "[2001:db8::1]:80";
    std::array<std::byte, 64> room;
    HeadShapes shapes;
    EXPECT_EQ(normalise_host(bytes_of(sent), room, shapes).data(), bytes_of(sent).data());
    EXPECT_EQ(http1::as_text(normalise_host(bytes_of("[::0]"), {}, shapes)), "[::0]");
    EXPECT_TRUE(shapes.has(HeadShape::BadHost)) << "without room for it";
}

TEST(Host, IsCutWhereTheRoomEnds) {
    std::array<std::byte, 3> room;
    HeadShapes shapes;
    EXPECT_EQ(http1::as_text(normalise_host(bytes_of("HOST"), room, shapes)), "hos");
    EXPECT_TRUE(shapes.has(HeadShape::BadHost));
}

}  // namespace
}  // namespace sluice::host_test
