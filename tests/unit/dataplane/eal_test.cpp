#include "dataplane/eal.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace sluice::eal_test {
namespace {

BoxConfig with_devices(const std::string& outside, const std::string& inside) {
    BoxConfig box;
    box.pairs.push_back({.name = "lab", .outside = {outside}, .inside = {inside}});
    return box;
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
    const auto pci = *eal_arguments(with_devices("0000:3b:00.0", "0000:3b:00.1"), {}, 0);
    EXPECT_TRUE(has(pci, "-a") && has(pci, "0000:3b:00.1") && !has(pci, "--no-pci"));
    const auto virtual_ones = *eal_arguments(with_devices("net_tap0", "net_tap1"), {}, 0);
    EXPECT_TRUE(has(virtual_ones, "--no-pci"));
}

TEST(EalArguments, TakesHugePagesWhenThereAreEnough) {
    constexpr std::uint64_t kPlenty = std::uint64_t{1} << 30;
    constexpr std::uint64_t kOnePage = std::uint64_t{2} << 20;
    BoxConfig box = with_devices("a", "b");
    EXPECT_TRUE(has(*eal_arguments(box, {}, kPlenty), "--in-memory"));
    EXPECT_TRUE(has(*eal_arguments(box, {}, kOnePage), "--no-huge"));
    EXPECT_TRUE(has(*eal_arguments(box, {}, 0), "--no-huge"));
    box.huge_pages = HugePages::None;
    EXPECT_TRUE(has(*eal_arguments(box, {}, kPlenty), "--no-huge"));
    box.huge_pages = HugePages::Required;
    EXPECT_TRUE(has(*eal_arguments(box, {}, kPlenty), "--in-memory"));
    EXPECT_FALSE(eal_arguments(box, {}, 0).has_value());
}

TEST(EalArguments, MemoryGrowsWithPairs) {
    const auto megabytes = [](const BoxConfig& box) {
        const std::vector<std::string> words = *eal_arguments(box, {}, 0);
        return std::stoul(*(std::find(words.begin(), words.end(), "-m") + 1));
    };
    BoxConfig box = with_devices("a", "b");
    const unsigned long one = megabytes(box);
    box.pairs.push_back(box.pairs[0]);
    EXPECT_GT(megabytes(box), one + 15);
}

TEST(EalArguments, ABufferHasAPageOfItsOwnWhereThereAreNoHugeOnes) {
    BoxConfig box = with_devices("a", "b");
    box.mbufs = 1U << 20;
    const std::vector<std::string> words = *eal_arguments(box, {}, 0);
    EXPECT_GT(std::stoul(*(std::find(words.begin(), words.end(), "-m") + 1)), 4096U);
    // In huge pages many lie side by side.
    EXPECT_TRUE(has(*eal_arguments(box, {}, std::uint64_t{5} << 30), "--in-memory"));
}

TEST(EalArguments, PassOnWhatIsGivenForTheEalBehindOurs) {
    const std::vector<std::string> more{"-m", "99"};
    const std::vector<std::string> words = *eal_arguments(with_devices("a", "b"), more, 0);
    ASSERT_GT(words.size(), 2U);
    EXPECT_EQ(std::vector<std::string>(words.end() - 2, words.end()), more);
}

TEST(CountLcores, ReadsDpdkLists) {
    const std::pair<const char*, std::size_t> rows[] = {
        {"0", 1},
        {"0,1", 2},
        {"0-3", 4},
        {"0@0,1@1", 2},
        {"0@0,(1-3)@(4-6)", 4},
        {"0@(0,1),1@(2-5),2", 3},
        {"(0,6),7-8", 4},
        {"1,2@(5-7),(3-5)@(0,2),(0,6),7-8", 9},
        {"", 0},
        {"x", 0},
        {"3-1", 0},
    };
    for (const auto& [list, want] : rows) {
        EXPECT_EQ(count_lcores(list), want) << list;
    }
}

}  // namespace
}  // namespace sluice::eal_test
