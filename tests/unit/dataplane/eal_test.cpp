#include "dataplane/eal.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sluice {
namespace {

DataplaneOptions with_devices(const std::string& outside, const std::string& inside) {
    DataplaneOptions options;
    options.pairs.push_back({.name = "lab", .outside = {outside}, .inside = {inside}});
    return options;
}

bool has(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

TEST(IsPci, TellsAddressesFromVirtualDevices) {
    for (const char* yes : {"0000:3b:00.0", "3b:00.1", "0000:3b:00.0,foo=1"}) {
        EXPECT_TRUE(is_pci(yes)) << yes;
    }
    for (const char* no : {"net_tap0", "net_af_packet0,iface=a:b.c", "", "deadbeef"}) {
        EXPECT_FALSE(is_pci(no)) << no;
    }
}

TEST(EalArguments, ProbesOnlyTheDevicesNamed) {
    const auto pci = *eal_arguments(with_devices("0000:3b:00.0", "0000:3b:00.1"), false);
    EXPECT_TRUE(has(pci, "-a") && has(pci, "0000:3b:00.1") && !has(pci, "--no-pci"));
    const auto virtual_ones = *eal_arguments(with_devices("net_tap0", "net_tap1"), false);
    EXPECT_TRUE(has(virtual_ones, "--no-pci"));
}

TEST(EalArguments, TakesHugePagesWhenThereAreAny) {
    DataplaneOptions options = with_devices("a", "b");
    EXPECT_TRUE(has(*eal_arguments(options, true), "--in-memory"));
    EXPECT_TRUE(has(*eal_arguments(options, false), "--no-huge"));
    options.huge_pages = HugePages::None;
    EXPECT_TRUE(has(*eal_arguments(options, true), "--no-huge"));
    options.huge_pages = HugePages::Required;
    EXPECT_TRUE(has(*eal_arguments(options, true), "--in-memory"));
    EXPECT_FALSE(eal_arguments(options, false).has_value());
}

}  // namespace
}  // namespace sluice
