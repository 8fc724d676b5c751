#include "lib/l7/http1/forwarded_client.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

// Whom proxies name, entry by entry.
namespace sluice::forwarded_client_test {
namespace {

struct Row {
    std::string_view list;
    std::size_t hops;
    std::string_view client;  // as text; empty: none
};

std::string client_of(std::string_view list, std::size_t hops) {
    const std::optional<VersionedAddress> client = forwarded_client(bytes_of(list), hops);
    return client ? to_text(client->version, client->address) : "";
}

const Row kRows[] = {
    {"192.0.2.1", 1, "192.0.2.1"},
    // From the right: what stands further left the client wrote itself.
    {"192.0.2.1, 192.0.2.2,192.0.2.3", 1, "192.0.2.3"},
    {"192.0.2.1, 192.0.2.2,192.0.2.3", 2, "192.0.2.2"},
    {"192.0.2.1, 192.0.2.2,192.0.2.3", 3, "192.0.2.1"},
    {"192.0.2.1, 192.0.2.2,192.0.2.3", 4, ""},
    {"192.0.2.1", 2, ""},
    {"192.0.2.1", 32, ""},
    {"192.0.2.1", 0, ""},
    {"6.6.6.6, 192.0.2.1", 1, "192.0.2.1"},
    {"unknown, 192.0.2.1", 1, "192.0.2.1"},
    {"192.0.2.1, garbage", 2, "192.0.2.1"},
    // An entry that is nothing is an entry all the same.
    {"192.0.2.1,", 1, ""},
    {"192.0.2.1,", 2, "192.0.2.1"},
    {"192.0.2.1,,", 2, ""},
    {",192.0.2.1", 1, "192.0.2.1"},
    {",192.0.2.1", 2, ""},
    {"", 1, ""},
    {" ", 1, ""},
    {",", 1, ""},
    // Spaces and tabs around.
    {"  192.0.2.1\t", 1, "192.0.2.1"},
    {"10.0.0.1 ,\t192.0.2.1 , 10.0.0.2", 2, "192.0.2.1"},
    {"192.0.2.1 192.0.2.2", 1, ""},
    {"192.0.2.1\r", 1, ""},
    // Ports.
    {"192.0.2.1:80", 1, "192.0.2.1"},
    {"192.0.2.1:0", 1, "192.0.2.1"},
    {"192.0.2.1:65535", 1, "192.0.2.1"},
    {"192.0.2.1:65536", 1, ""},
    {"192.0.2.1:000080", 1, ""},
    {"192.0.2.1:", 1, ""},
    {"192.0.2.1:http", 1, ""},
    {"192.0.2.1:-1", 1, ""},
    {"192.0.2.1: 80", 1, ""},
    {"192.0.2.1:80:80", 1, ""},
    // IPv6, with brackets and without.
    {"2001:db8::1", 1, "2001:db8::1"},
    {"2001:DB8:0:0:0:0:0:1", 1, "2001:db8::1"},
    {"[2001:db8::1]", 1, "2001:db8::1"},
    {"[2001:db8::1]:4711", 1, "2001:db8::1"},
    {"::1", 1, "::1"},
    {"::", 1, "::"},
    // IPv4 as a proxy with one socket for both knows it: the same client.
    {"::ffff:192.0.2.1", 1, "192.0.2.1"},
    {"::FFFF:c000:201", 1, "192.0.2.1"},
    {"[::ffff:192.0.2.1]:1", 1, "192.0.2.1"},
    {"::ffff:192.0.2.1, 2001:db8::1", 2, "192.0.2.1"},
    {"::ffff:0:192.0.2.1", 1, "::ffff:0:c000:201"},
    {"::192.0.2.1", 1, "::192.0.2.1"},
    {"64:ff9b::192.0.2.1", 1, "64:ff9b::c000:201"},
    {"[2001:db8::1]4711", 1, ""},
    {"[2001:db8::1", 1, ""},
    {"2001:db8::1]", 1, ""},
    {"[2001:db8::1]:", 1, ""},
    {"[192.0.2.1]", 1, ""},
    {"[192.0.2.1]:80", 1, ""},
    {"[]", 1, ""},
    {"[", 1, ""},
    {"]", 1, ""},
    {":", 1, ""},
    {":80", 1, ""},
    {"2001:db8::1%eth0", 1, ""},
    {"[fe80::1%1]", 1, ""},
    {"2001:db8:::1", 1, ""},
    {"2001:db8::g", 1, ""},
    {"1:2:3:4:5:6:7:8:9", 1, ""},
    // Nothing that servers read in two ways.
    {"unknown", 1, ""},
    {"_hidden", 1, ""},
    {"example.com", 1, ""},
    {"192.0.2", 1, ""},
    {"192.0.2.1.1", 1, ""},
    {"192.0.2.256", 1, ""},
    {"192.0.2.01", 1, ""},
    {"0300.0.2.1", 1, ""},
    {"0xc0.0.2.1", 1, ""},
    {"3221225985", 1, ""},
    {"192.0.2.1/32", 1, ""},
    {"\"192.0.2.1\"", 1, ""},
    {"for=192.0.2.1", 1, ""},
    {std::string_view{"192.0.2.1\0", 10}, 1, ""},
    {std::string_view{"192.0.2.1\0,192.0.2.2", 20}, 1, "192.0.2.2"},
};

TEST(ForwardedClient, Table) {
    for (const Row& row : kRows) {
        EXPECT_EQ(client_of(row.list, row.hops), row.client) << row.list << " " << row.hops;
    }
}

TEST(ForwardedClient, OfALongListIsFoundAtItsRight) {
    std::string list;
    for (int i = 0; i < 5000; ++i) {
        list += "10.0.0.1, ";
    }
    EXPECT_EQ(client_of(list + "192.0.2.1", 1), "192.0.2.1");
    EXPECT_EQ(client_of("192.0.2.9, " + list + "192.0.2.1", 32), "10.0.0.1");
    EXPECT_EQ(client_of(std::string(100'000, ','), 32), "");
    EXPECT_EQ(client_of(std::string(100'000, '1'), 1), "");
}

}  // namespace
}  // namespace sluice::forwarded_client_test
