#include "lib/match/address_set.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace sluice::address_set_test {
namespace {

VersionedAddress address(std::string_view text) {
    return parse_address(text).value();
}

// 10.0.0.0/8, 192.0.2.1, fd00::/8 and the last address of all.
AddressSetParts proxies() {
    return {
        .steps = {{0, 0}, {0x0A00'0000, 1}, {0x0B00'0000, 0}, {0xC000'0201, 1}, {0xC000'0202, 0}},
        .v6_steps = {{0, 0},
                     {Wide{0xFD00'0000'0000'0000} << 64, 1},
                     {Wide{0xFE00'0000'0000'0000} << 64, 0},
                     {~Wide{0}, 1}}};
}

TEST(AddressSet, HasWhatItsStepsSay) {
    const AddressSet set{proxies()};
    for (const std::string_view inside :
         {"10.0.0.0", "10.255.255.255", "192.0.2.1", "fd00::", "fdff:ffff::1",
          "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}) {
        EXPECT_TRUE(set.has(address(inside))) << inside;
    }
    for (const std::string_view outside :
         {"9.255.255.255", "11.0.0.0", "192.0.2.2", "192.0.2.0", "0.0.0.0", "::", "::10.0.0.1",
          "::ffff:10.0.0.1", "fe00::", "fc00::1"}) {
        EXPECT_FALSE(set.has(address(outside))) << outside;
    }
}

TEST(AddressSet, FindsSourcesOfABurst) {
    const AddressSet set{proxies()};
    HeaderColumns columns;
    columns.src_host[0] = 0x0A01'0203;
    columns.src_host[1] = 0x0901'0203;
    columns.src6[2] = address("fd00::1").address;
    columns.src6[3] = address("fc00::1").address;
    columns.src_host[4] = 0xC000'0201;
    columns.v6 = 0b1100;
    EXPECT_EQ(set.sources(columns, 0b11111), 0b10101U);
    EXPECT_EQ(set.sources(columns, 0b01110), 0b00100U);
    EXPECT_EQ(set.sources(columns, 0), 0U);
}

TEST(AddressSet, IsSoundInOrder) {
    EXPECT_TRUE(are_sound(proxies()));
    EXPECT_FALSE(are_sound(AddressSetParts{}));
    const auto broken = [](auto change) {
        AddressSetParts parts = proxies();
        change(parts);
        return !are_sound(parts);
    };
    EXPECT_TRUE(broken([](AddressSetParts& p) { p.steps.front().first = 1; }));
    EXPECT_TRUE(broken([](AddressSetParts& p) { p.steps[1].first = 0; }));
    EXPECT_TRUE(broken([](AddressSetParts& p) { p.steps.back().first = std::uint64_t{1} << 32; }));
    EXPECT_TRUE(broken([](AddressSetParts& p) { p.steps[1].row = 2; }));
    EXPECT_TRUE(broken([](AddressSetParts& p) { p.v6_steps.clear(); }));
    EXPECT_TRUE(broken([](AddressSetParts& p) { p.v6_steps[2].first = p.v6_steps[1].first; }));
    EXPECT_TRUE(broken([](AddressSetParts& p) { p.v6_steps[3].row = 9; }));
}

}  // namespace
}  // namespace sluice::address_set_test
