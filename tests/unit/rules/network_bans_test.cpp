#include "lib/rules/network_bans.hpp"

#include "lib/rules/group.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace sluice::network_bans_test {
namespace {

// Canonical bytes of a key of one address: field, version, length, size of the value.
std::vector<std::byte> key(unsigned version, unsigned length,
                           std::initializer_list<unsigned> value) {
    std::vector<std::byte> bytes{std::byte{3}, static_cast<std::byte>(version),
                                 static_cast<std::byte>(length), std::byte{4}};
    if (version == 6) {
        bytes[3] = std::byte{16};
    }
    for (const unsigned one : value) {
        bytes.push_back(static_cast<std::byte>(one));
    }
    bytes.resize(4 + std::to_integer<std::size_t>(bytes[3]));
    return bytes;
}

struct Networks {
    KeyOverrides keys;
    Overrides all;

    void ban(const std::vector<std::byte>& network) {
        keys.bytes.insert(keys.bytes.end(), network.begin(), network.end());
        keys.rows.push_back({static_cast<std::uint32_t>(keys.bytes.size()),
                             static_cast<std::uint32_t>(all.plans.size())});
        all.plans.push_back({.banned = true});
    }
    [[nodiscard]] std::size_t count(const std::vector<std::byte>& of) const {
        const NetworkBans bans{keys, all, {1, 2}};
        std::size_t found = 0;
        bans.for_each(of, [&](const OverridePlan& plan, Wide) { found += plan.banned ? 1U : 0U; });
        EXPECT_EQ(bans.has(of), found != 0);
        return found;
    }
};

TEST(AddressOfKey, IsThatOfAKeyOfNothingElse) {
    const IpPrefix network = address_of_key(key(4, 24, {10, 1, 2, 0}));
    EXPECT_EQ(network, (IpPrefix{IpVersion::V4, parse_address("10.1.2.0")->address, 24}));
    EXPECT_EQ(address_of_key(key(6, 128, {0x20, 0x01})),
              (IpPrefix{IpVersion::V6, parse_address("2001::")->address, 128}));
    std::vector<std::byte> with_more = key(4, 32, {10, 1, 2, 3});
    with_more.push_back(std::byte{});
    for (const std::vector<std::byte>& other :
         {key(5, 32, {10}), key(4, 33, {10}), key(6, 129, {10}), key(0, 0, {}), with_more, {}}) {
        EXPECT_EQ(address_of_key(other), IpPrefix{}) << other.size();
    }
}

TEST(NetworkBans, FindsEveryNetworkThatAKeyLiesIn) {
    Networks networks;
    networks.ban(key(4, 8, {10, 0, 0, 0}));
    networks.ban(key(4, 24, {10, 1, 2, 0}));
    networks.ban(key(4, 22, {192, 0, 4, 0}));
    networks.ban(key(6, 32, {0x20, 0x01, 0x0d, 0xb8}));
    EXPECT_EQ(networks.count(key(4, 32, {10, 1, 2, 3})), 2U);
    EXPECT_EQ(networks.count(key(4, 32, {10, 1, 3, 3})), 1U);
    EXPECT_EQ(networks.count(key(4, 32, {192, 0, 7, 255})), 1U);
    EXPECT_EQ(networks.count(key(4, 32, {192, 0, 8, 0})), 0U);
    EXPECT_EQ(networks.count(key(4, 24, {10, 1, 2, 0})), 2U);
    EXPECT_EQ(networks.count(key(4, 16, {10, 1, 0, 0})), 1U);  // of networks, only longer than it
    EXPECT_EQ(networks.count(key(6, 128, {0x20, 0x01, 0x0d, 0xb8, 9})), 1U);
    EXPECT_EQ(networks.count(key(6, 128, {0x20, 0x01, 0x0d, 0xb9})), 0U);
    EXPECT_EQ(networks.count({}), 0U);
    EXPECT_EQ(networks.count(std::vector<std::byte>(40)), 0U);
}

TEST(NetworkBans, TheWholeOfAVersionIsANetworkToo) {
    Networks networks;
    networks.ban(key(4, 0, {}));
    EXPECT_EQ(networks.count(key(4, 32, {10, 1, 2, 3})), 1U);
    EXPECT_EQ(networks.count(key(6, 128, {0x20})), 0U);
}

TEST(NetworkBans, ThoseThatCrossTheSocketAreChecked) {
    Networks networks;
    for (unsigned length = 8; length < 16; ++length) {
        networks.ban(key(4, length, {10, 0, 0, 0}));
    }
    EXPECT_TRUE(are_sound_networks(networks.keys, networks.all));
    networks.all.plans[0].banned = false;
    EXPECT_FALSE(are_sound_networks(networks.keys, networks.all));
    networks.all.plans[0].banned = true;
    Networks more = networks;
    more.ban(key(4, 16, {10, 0, 0, 0}));
    EXPECT_FALSE(are_sound_networks(more.keys, more.all));
    Networks wrong = networks;
    wrong.ban(key(4, 33, {10, 0, 0, 0}));
    EXPECT_FALSE(are_sound_networks(wrong.keys, wrong.all));
}

}  // namespace
}  // namespace sluice::network_bans_test
