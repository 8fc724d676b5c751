#include "lib/packet/ip_address.hpp"

#include <gtest/gtest.h>

namespace sluice::ip_address_test {
namespace {

TEST(ParseAddress, TakesWhatItWrites) {
    for (const std::string_view text : {"0.0.0.0", "192.0.2.1", "255.255.255.255", "::", "::1",
                                        "2001:db8::1", "::ffff:192.0.2.1", "fe80:0:0:1::"}) {
        const auto address = parse_address(text);
        ASSERT_TRUE(address.has_value()) << text;
        EXPECT_EQ(to_text(address->version, address->address),
                  text == "fe80:0:0:1::" ? "fe80:0:0:1::" : text);
    }
}

TEST(ParseAddress, RefusesEverythingElse) {
    for (const std::string_view text :
         {"", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.4/8", "::1%eth0",
          "12345::", "g::", "1.2.3.4 ", ":::"}) {
        EXPECT_FALSE(parse_address(text).has_value()) << text;
    }
    EXPECT_FALSE(parse_address(std::string_view{"1.2.3.4\0x", 9}).has_value());
}

struct Row {
    std::string_view text;
    bool good;
    bool host_bits;
};

TEST(ParsePrefix, WantsANetworkAndItsLength) {
    const Row rows[] = {
        {"10.0.0.0/8", true, false},    {"0.0.0.0/0", true, false},
        {"10.0.0.1/32", true, false},   {"10.0.0.1/8", false, true},
        {"10.0.0.0/33", false, false},  {"10.0.0.0/", false, false},
        {"10.0.0.0/08", false, false},  {"10.0.0.0", false, false},
        {"2001:db8::/32", true, false}, {"2001:db8::1/64", false, true},
        {"::/129", false, false},       {"::/128", true, false},
        {"10.0.0.0/-1", false, false},  {"10.0.0.0/8x", false, false},
    };
    for (const Row& row : rows) {
        bool host_bits = false;
        EXPECT_EQ(parse_prefix(row.text, &host_bits).has_value(), row.good) << row.text;
        EXPECT_EQ(host_bits, row.host_bits) << row.text;
    }
}

TEST(Masked, ZeroesWhatIsBehindTheLength) {
    const IpAddress all = parse_address("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")->address;
    for (unsigned length = 0; length <= 128; ++length) {
        unsigned ones = 0;
        for (const std::byte byte : masked(all, length).bytes) {
            ones += static_cast<unsigned>(std::popcount(std::to_integer<unsigned>(byte)));
        }
        EXPECT_EQ(ones, length);
    }
}

}  // namespace
}  // namespace sluice::ip_address_test
