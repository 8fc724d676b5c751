#include "dataplane/state/state_region.hpp"

#include "dataplane/read_clock.hpp"
#include "tests/memory_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <unistd.h>

namespace sluice::state_region_test {
namespace {

class StateRegionTest : public testing::Test {
protected:
    void SetUp() override { directory = test::memory_folder("state_region"); }
    void TearDown() override {
        if (const auto folder = StateFolder::open(directory)) {
            (void)folder->forget();
        }
        std::filesystem::remove_all(directory);
    }

    static StateShape shape(std::size_t workers, std::size_t keys) {
        return {.workers = workers, .keys = keys, .pool_lines = 16, .huge_pages = false};
    }
    static std::uint64_t& mark(const StateRegion& region, std::size_t worker) {
        const StoreMemory memory = region.worker(worker);
        return *static_cast<std::uint64_t*>(memory.at(memory.layout.keys_at()));
    }
    std::string directory;
};

TEST_F(StateRegionTest, IsFoundAgainWithItsSecretsAndMemory) {
    const auto folder = StateFolder::open(directory);
    ASSERT_TRUE(folder.has_value());
    StateSecrets secrets;
    {
        const auto region = StateRegion::open(*folder, shape(2, 100));
        ASSERT_TRUE(region.has_value());
        EXPECT_FALSE(region->taken_up());
        secrets = region->secrets();
        mark(*region, 1) = 77;
        region->records(1).back().set(7, 9);
    }
    const auto again = StateRegion::open(*folder, shape(2, 100));
    ASSERT_TRUE(again.has_value());
    EXPECT_TRUE(again->taken_up());
    EXPECT_EQ(again->secrets().hash, secrets.hash);
    EXPECT_EQ(mark(*again, 1), 77U);
    EXPECT_EQ(again->records(1).back().unsynced(), 16U);
    EXPECT_EQ(mark(*again, 0), 0U);
}

TEST_F(StateRegionTest, AnotherShapeKeepsSecretsAndTheFormerTables) {
    const auto folder = StateFolder::open(directory);
    ASSERT_TRUE(folder.has_value());
    StateSecrets secrets;
    std::uint64_t lineage = 0;
    {
        const auto region = StateRegion::open(*folder, shape(1, 100));
        secrets = region->secrets();
        lineage = region->lineage();
        mark(*region, 0) = 5;
    }
    const auto next = StateRegion::open(*folder, shape(3, 100));
    ASSERT_TRUE(next.has_value());
    EXPECT_TRUE(next->taken_up());
    EXPECT_EQ(next->secrets().hash, secrets.hash);
    EXPECT_EQ(next->lineage(), lineage);
    EXPECT_EQ(mark(*next, 0), 0U);
    const auto former = StateRegion::open_former(*folder);
    ASSERT_EQ(former.size(), 1U);
    EXPECT_EQ(mark(former[0], 0), 5U);
    former[0].remove(*folder);
    EXPECT_TRUE(StateRegion::open_former(*folder).empty());
}

TEST_F(StateRegionTest, ASnapshotBringsItBackOnceTheMemoryIsGone) {
    const auto folder = StateFolder::open(directory);
    ASSERT_TRUE(folder.has_value());
    const std::string snapshot = directory + "/snapshot";
    Nanoseconds lead{};
    std::uint64_t lineage = 0;
    {
        const auto region = StateRegion::open(*folder, shape(2, 1000));
        lineage = region->lineage();
        lead = region->clock_lead();
        mark(*region, 1) = 123;
        region->records(1).back().set(1, 2);
        ASSERT_TRUE(region->write_snapshot(*folder, snapshot).has_value());
    }
    EXPECT_TRUE(StateRegion::is_there(*folder));
    ASSERT_TRUE(folder->forget().has_value());
    EXPECT_FALSE(StateRegion::is_there(*folder));
    ASSERT_TRUE(StateRegion::restore(*folder, snapshot, false).has_value());
    const auto back = StateRegion::open(*folder, shape(2, 1000));
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(back->lineage(), lineage);
    EXPECT_EQ(mark(*back, 1), 123U);
    EXPECT_EQ(back->records(1).back().unsynced(), 3U);
    // The same boot: the instants go on as they were, but for what the clocks differ by.
    EXPECT_LT(std::chrono::abs(back->clock_lead() - lead), std::chrono::seconds{1});
}

Nanoseconds age_of(Nanoseconds lead) {
    return read_clock(CLOCK_BOOTTIME) + lead;
}

// However long the machine has been up.
TEST_F(StateRegionTest, InstantsBeginAtZeroWithTheTables) {
    const auto folder = StateFolder::open(directory);
    ASSERT_TRUE(folder.has_value());
    const auto region = StateRegion::open(*folder, shape(1, 100));
    ASSERT_TRUE(region.has_value());
    EXPECT_GE(age_of(region->clock_lead()), Nanoseconds{0});
    EXPECT_LT(age_of(region->clock_lead()), std::chrono::hours{1});
    const auto another = StateRegion::open(*folder, shape(1, 200));
    ASSERT_TRUE(another.has_value());
    EXPECT_EQ(another->clock_lead(),
              region->clock_lead());  // keys are looked up in the former ones
}

// What instants are no longer good for is not used.
TEST_F(StateRegionTest, TablesThatAreTooOldAreKeptAside) {
    const auto folder = StateFolder::open(directory);
    ASSERT_TRUE(folder.has_value());
    const Nanoseconds longest = kLatestBegin.time_since_epoch();
    for (const Nanoseconds more : {Nanoseconds{-std::chrono::hours{1}},
                                   longest + std::chrono::hours{1}, Nanoseconds::max()}) {
        ASSERT_TRUE(folder->forget().has_value());
        ASSERT_TRUE(StateRegion::open(*folder, shape(1, 100)));
        std::fstream file{directory + "/tables/header",
                          std::ios::binary | std::ios::in | std::ios::out};
        RegionHeader header;
        file.read(reinterpret_cast<char*>(&header), sizeof(header));
        header.lead = more == Nanoseconds::max() ? more.count() : header.lead + more.count();
        header.seal();
        file.seekp(0);
        file.write(reinterpret_cast<const char*>(&header), sizeof(header));
        file.close();
        const auto begun = StateRegion::open(*folder, shape(1, 100));
        ASSERT_TRUE(begun.has_value());
        EXPECT_FALSE(begun->taken_up());
        EXPECT_LT(age_of(begun->clock_lead()), std::chrono::hours{1});
    }
}

// A sample of all bits of a snapshot: it is taken up as it was, or not at all.
TEST_F(StateRegionTest, AFlippedBitOfASnapshotIsKnown) {
    const auto folder = StateFolder::open(directory);
    ASSERT_TRUE(folder.has_value());
    const std::string snapshot = directory + "/snapshot";
    {
        const auto region = StateRegion::open(*folder, shape(1, 100));
        mark(*region, 0) = 123;
        ASSERT_TRUE(region->write_snapshot(*folder, snapshot).has_value());
    }
    std::ifstream file{snapshot, std::ios::binary};
    const std::string whole{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
    for (std::size_t byte = 0; byte < whole.size(); byte += byte < 300 ? 1 : 37) {
        std::string flipped = whole;
        flipped[byte] = static_cast<char>(flipped[byte] ^ (1U << byte % 8));
        std::ofstream{snapshot, std::ios::binary | std::ios::trunc} << flipped;
        ASSERT_TRUE(folder->forget().has_value());
        EXPECT_FALSE(StateRegion::restore(*folder, snapshot, false).has_value()) << byte;
    }
}

// As one whose reader is ended in the middle: nobody takes a part for all, and the snapshot is read
// again.
TEST_F(StateRegionTest, APartOfASnapshotIsNoRegion) {
    const auto folder = StateFolder::open(directory);
    ASSERT_TRUE(folder.has_value());
    const std::string snapshot = directory + "/snapshot";
    {
        const auto region = StateRegion::open(*folder, shape(2, 1000));
        mark(*region, 0) = 122;
        mark(*region, 1) = 123;
        ASSERT_TRUE(region->write_snapshot(*folder, snapshot).has_value());
    }
    std::ifstream file{snapshot, std::ios::binary};
    const std::string whole{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
    ASSERT_TRUE(folder->forget().has_value());
    for (const std::size_t size : {std::size_t{500}, whole.size() / 2, whole.size() - 1}) {
        std::ofstream{snapshot, std::ios::binary | std::ios::trunc} << whole.substr(0, size);
        EXPECT_FALSE(StateRegion::restore(*folder, snapshot, false).has_value()) << size;
        EXPECT_FALSE(StateRegion::is_there(*folder)) << size;
    }
    std::ofstream{snapshot, std::ios::binary | std::ios::trunc} << whole;
    ASSERT_TRUE(StateRegion::restore(*folder, snapshot, false).has_value());
    const auto back = StateRegion::open(*folder, shape(2, 1000));
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(mark(*back, 0), 122U);
    EXPECT_EQ(mark(*back, 1), 123U);
}

TEST_F(StateRegionTest, ForgetLeavesNoSecret) {
    const auto folder = StateFolder::open(directory);
    ASSERT_TRUE(folder.has_value());
    ASSERT_TRUE(StateRegion::open(*folder, shape(1, 100)).has_value());
    for (const char* name : {"database-key", "rss-key", "ruleset.bin.replaced"}) {
        std::ofstream{directory + "/" + name} << "?";
    }
    std::ofstream{directory + "/rules.json"} << "{}";  // sluiced's
    ASSERT_TRUE(folder->forget().has_value());
    std::vector<std::string> left;
    for (const auto& entry : std::filesystem::directory_iterator{directory}) {
        left.push_back(entry.path().filename().string());
    }
    EXPECT_EQ(left, std::vector<std::string>{"rules.json"});
}

}  // namespace
}  // namespace sluice::state_region_test
