#include "dataplane/state/box_state.hpp"
#include "dataplane/read_clock.hpp"
#include "tests/memory_folder.hpp"
#include "tests/unit/base/no_descriptors.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice::box_state_test {
namespace {

namespace fs = std::filesystem;

std::string read(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
}
void write(const std::string& path, const std::string& bytes) {
    std::ofstream{path, std::ios::binary | std::ios::trunc} << bytes;
}

class BoxStateTest : public testing::Test {
protected:
    void SetUp() override {
        directory = test::memory_folder("box_state");
        fs::create_directories(directory);
        box.state_dir = directory;
        box.table_keys = 64;
        box.huge_pages = HugePages::None;
    }
    void TearDown() override { fs::remove_all(directory); }

    [[nodiscard]] Result<BoxState> open(std::size_t workers = 1) const {
        return BoxState::open(box, workers);
    }
    // A first process, which has left something.
    HashSecret leave_state() {
        auto state = open();
        EXPECT_TRUE(state && state->keep(LimitSlots{}).has_value());
        return state->secrets().hash;
    }

    std::string directory;
    BoxConfig box;
};

// Every bit of the header: the same state goes on, or it is kept aside.
TEST_F(BoxStateTest, AFlippedBitOfTheHeaderIsKnown) {
    const HashSecret secret = leave_state();
    const std::string tables = directory + "/tables";
    const std::string header = read(tables + "/header");
    ASSERT_GE(header.size(), sizeof(RegionHeader));
    for (std::size_t bit = 0; bit < sizeof(RegionHeader) * 8; ++bit) {
        std::string flipped = header;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1U << bit % 8));
        write(tables + "/header", flipped);
        const auto state = open();
        ASSERT_TRUE(state) << "bit " << bit;
        EXPECT_TRUE(state->survives());
        EXPECT_NE(state->secrets().hash, secret) << "bit " << bit;
        EXPECT_EQ(state->stats().put_aside, 1U) << "bit " << bit;
        // Instants begin at zero with the new tables.
        const Nanoseconds age = read_clock(CLOCK_BOOTTIME) + state->clock_lead();
        EXPECT_TRUE(age >= Nanoseconds{0} && age < std::chrono::hours{1}) << "bit " << bit;
        for (const auto& entry : fs::directory_iterator{directory}) {
            if (entry.path().filename().string().starts_with("tables.bad-")) {
                fs::remove_all(tables);
                fs::rename(entry.path(), tables);
                break;
            }
        }
    }
    write(tables + "/header", header);
    EXPECT_EQ(open()->secrets().hash, secret);
}

TEST_F(BoxStateTest, AFormerHeaderThatIsDamagedIsKeptAside) {
    (void)leave_state();
    box.table_keys = 128;
    ASSERT_TRUE(open());
    for (const auto& entry : fs::directory_iterator{directory + "/tables"}) {
        if (entry.path().filename().string().starts_with("former-")) {
            std::string bytes = read(entry.path());
            bytes[60] = static_cast<char>(bytes[60] ^ 4);
            write(entry.path(), bytes);
        }
    }
    {
        auto state = open();
        ASSERT_TRUE(state);
        EXPECT_TRUE(state->survives());
        state->open_former({});
        EXPECT_EQ(state->former(), nullptr);
        EXPECT_EQ(state->stats().put_aside, 1U);
    }
    std::size_t aside = 0;
    for (const auto& entry : fs::directory_iterator{directory + "/tables"}) {
        aside += entry.path().filename().string().starts_with("bad-former-") ? 1 : 0;
    }
    EXPECT_EQ(aside, 1U);
    // Once is enough, and its tables lie there still.
    auto again = open();
    ASSERT_TRUE(again);
    again->open_former({});
    EXPECT_EQ(again->stats().put_aside, 0U);
}

// Other RSS keys bring keys of rules to other workers, as another number of workers does.
TEST_F(BoxStateTest, NewRssKeysMakeTheTablesFormerOnes) {
    const HashSecret secret = leave_state();
    write(directory + "/rss-key", "?");
    auto state = open();
    ASSERT_TRUE(state);
    EXPECT_EQ(state->secrets().hash, secret);
    EXPECT_EQ(state->stats().put_aside, 1U);
    state->open_former({});
    EXPECT_NE(state->former(), nullptr);
}

// A new shape for which there is no room: the tables stay as they are, and what is owed in them
// counts meanwhile.
TEST_F(BoxStateTest, WithoutRoomForNewTablesThoseThatAreThereStay) {
    if (::mount("none", directory.c_str(), "tmpfs", 0, "size=4m") != 0) {
        GTEST_SKIP() << "may not mount";
    }
    struct Unmount {
        std::string path;
        ~Unmount() { (void)::umount2(path.c_str(), MNT_DETACH); }
    } const unmount{directory};
    const HashSecret secret = leave_state();
    const std::string header = read(directory + "/tables/header");
    box.table_keys = 1U << 20;
    {
        auto state = open();
        ASSERT_TRUE(state);
        EXPECT_FALSE(state->survives());
        EXPECT_EQ(state->secrets().hash, secret);
        EXPECT_EQ(state->stats().not_kept, 1U);
        EXPECT_EQ(state->stats().put_aside, 0U);
        state->open_former({});
        EXPECT_NE(state->former(), nullptr);
    }
    EXPECT_EQ(read(directory + "/tables/header"), header);
    box.table_keys = 64;
    auto back = open();
    ASSERT_TRUE(back);
    EXPECT_TRUE(back->survives());
    EXPECT_EQ(back->secrets().hash, secret);
    back->open_former({});
    EXPECT_EQ(back->former(), nullptr);
}

// A process that was killed between the two names of a header: both lead to one region.
TEST_F(BoxStateTest, AHeaderWithTwoNamesIsOneRegion) {
    const HashSecret secret = leave_state();
    RegionHeader header{};
    std::ifstream{directory + "/tables/header", std::ios::binary}.read(
        reinterpret_cast<char*>(&header), sizeof(header));
    fs::create_hard_link(directory + "/tables/header",
                         directory + "/tables/former-" + std::to_string(header.id));
    auto state = open();
    ASSERT_TRUE(state);
    EXPECT_EQ(state->secrets().hash, secret);
    state->open_former({});
    EXPECT_EQ(state->former(), nullptr);
}

TEST_F(BoxStateTest, ADirectoryThatMayOnlyBeReadIsTakenUp) {
    if (::mount("none", directory.c_str(), "tmpfs", 0, "size=8m") != 0) {
        GTEST_SKIP() << "may not mount";
    }
    struct Unmount {
        std::string path;
        ~Unmount() { (void)::umount2(path.c_str(), MNT_DETACH); }
    } const unmount{directory};
    const HashSecret secret = leave_state();
    ASSERT_EQ(::mount("none", directory.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
    {
        auto state = open();
        ASSERT_TRUE(state);
        EXPECT_FALSE(state->survives());
        EXPECT_EQ(state->secrets().hash, secret);
        EXPECT_GE(state->stats().not_kept, 1U);
        EXPECT_EQ(state->stats().put_aside, 0U);
        EXPECT_FALSE(open()) << "another process has it";
        state->records(0, {})[0].set(1, 2);  // of a copy
    }
    ASSERT_EQ(::mount("none", directory.c_str(), nullptr, MS_REMOUNT, nullptr), 0);
    auto state = open();
    ASSERT_TRUE(state);
    EXPECT_TRUE(state->survives());
    EXPECT_EQ(state->secrets().hash, secret);
    EXPECT_EQ(state->records(0, {})[0].unsynced(), 0U);
}

TEST_F(BoxStateTest, ADirectoryThatCannotBeIsNoReasonNotToStart) {
    write(directory + "/file", "");
    box.state_dir = directory + "/file/below";
    const auto state = open();
    ASSERT_TRUE(state);
    EXPECT_FALSE(state->survives());
    EXPECT_GE(state->stats().not_kept, 1U);
}

// Connections are found again for as long as the tables' secrets and their own number are the same.
TEST_F(BoxStateTest, ConnectionsOfAWorkerAreFoundAgain) {
    constexpr std::size_t kBytes = KeptMemory::taken_for(5000);
    const auto left = [&](std::size_t connections) {
        auto state = open();
        EXPECT_TRUE(state && state->keep(LimitSlots{}).has_value());
        KeptMemory memory = state->connections(0, connections, kBytes);
        EXPECT_TRUE(memory.is_kept());
        auto* const bytes = static_cast<unsigned char*>(memory.take(kBytes).data());
        return static_cast<int>(std::exchange(bytes[kBytes - 1], 7));
    };
    EXPECT_EQ(left(64), 0);
    EXPECT_EQ(left(64), 7);
    EXPECT_EQ(left(65), 0) << "of another number";
    fs::remove_all(directory + "/tables");
    EXPECT_EQ(left(65), 0);
}

TEST_F(BoxStateTest, WithoutAPlaceConnectionsEndWithTheProcess) {
    write(directory + "/file", "");
    box.state_dir = directory + "/file/below";
    auto state = open();
    ASSERT_TRUE(state);
    EXPECT_FALSE(state->connections(0, 64, 5000).is_kept());
}

std::size_t names_with(const std::string& directory, const std::string& part) {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator{directory}) {
        count += entry.path().filename().string().find(part) == std::string::npos ? 0U : 1U;
    }
    return count;
}

// What entries mean cannot be read just now: the tables may be good.
TEST_F(BoxStateTest, TablesWhoseSlotsCannotBeReadNowStay) {
    const HashSecret secret = leave_state();
    const std::string slots = directory + "/slots.bin";
    const std::string good = read(slots);
    fs::remove(slots);
    fs::create_symlink(test::kReadsFail, slots);
    {
        const auto state = open();
        ASSERT_TRUE(state);
        EXPECT_FALSE(state->survives());
        EXPECT_GE(state->stats().not_kept, 1U);
        EXPECT_EQ(state->stats().put_aside, 0U);
    }
    fs::remove(slots);
    write(slots, good);
    const auto state = open();
    ASSERT_TRUE(state);
    EXPECT_TRUE(state->survives());
    EXPECT_EQ(state->secrets().hash, secret);
    EXPECT_EQ(names_with(directory, ".bad-"), 0U);
}

// No descriptor is to be had when the tables are opened: they stay.
TEST_F(BoxStateTest, TablesThatCannotBeOpenedNowStay) {
    const HashSecret secret = leave_state();
    {
        const auto folder = StateFolder::open(directory);
        ASSERT_TRUE(folder);
        const StateShape shape{.workers = 1, .keys = 64, .pool_lines = 32, .huge_pages = false};
        const test::NoDescriptors none;
        const auto region = StateRegion::open(*folder, shape);
        ASSERT_FALSE(region);
        EXPECT_EQ(region.error().code, Errc::Unreachable) << region.error().what;
    }
    EXPECT_EQ(names_with(directory, ".bad-"), 0U);
    EXPECT_EQ(open()->secrets().hash, secret);
}

class SnapshotTest : public BoxStateTest {
protected:
    // A snapshot of a boot whose tables are gone.
    void leave_snapshot() {
        box.snapshot_file = directory + "/snapshot";
        {
            auto state = open();
            ASSERT_TRUE(state && state->keep(LimitSlots{}).has_value());
            state->end_snapshots();
        }
        fs::remove_all(directory + "/tables");
        ASSERT_TRUE(fs::exists(box.snapshot_file));
    }
};

TEST_F(SnapshotTest, OnlyOneThatIsDamagedIsRenamed) {
    leave_snapshot();
    const std::string good = read(box.snapshot_file);
    write(box.snapshot_file, good.substr(0, good.size() - 1));
    ASSERT_TRUE(open());
    EXPECT_TRUE(fs::exists(box.snapshot_file + ".bad"));
    EXPECT_FALSE(fs::exists(box.snapshot_file));
}

// EIO: the next start may read it, and what is written meanwhile does not take its place.
TEST_F(SnapshotTest, OneThatCannotBeReadNowStays) {
    leave_snapshot();
    fs::remove(box.snapshot_file);
    fs::create_symlink(test::kReadsFail, box.snapshot_file);
    auto state = open();
    ASSERT_TRUE(state);
    EXPECT_TRUE(state->survives());
    EXPECT_FALSE(fs::exists(fs::symlink_status(box.snapshot_file + ".bad")));
    EXPECT_TRUE(fs::is_symlink(box.snapshot_file));
    state->end_snapshots();
    EXPECT_TRUE(fs::is_symlink(box.snapshot_file + ".unread"));
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(box.snapshot_file)));
}

// Opening a FIFO would wait for ever for somebody who writes to it.
TEST_F(SnapshotTest, WhatIsNoFileIsKeptAside) {
    leave_snapshot();
    fs::remove(box.snapshot_file);
    ASSERT_EQ(::mkfifo(box.snapshot_file.c_str(), 0600), 0);
    ASSERT_TRUE(open());
    EXPECT_TRUE(fs::is_fifo(box.snapshot_file + ".bad"));
    fs::remove(box.snapshot_file + ".bad");
    fs::remove_all(directory + "/tables");
    fs::create_directory(box.snapshot_file);
    ASSERT_TRUE(open());
    EXPECT_TRUE(fs::is_directory(box.snapshot_file + ".bad"));
}

// What may be good gives way to nothing but a snapshot that is whole.
TEST_F(SnapshotTest, AnUnreadOneStaysUntilAnotherIsWritten) {
    leave_snapshot();
    fs::remove(box.snapshot_file);
    fs::create_symlink(test::kReadsFail, box.snapshot_file);
    auto state = open();
    ASSERT_TRUE(state);
    fs::create_directory(box.snapshot_file + ".new");  // in the way of the next
    state->end_snapshots();
    EXPECT_EQ(state->stats().snapshots.failed, 1U);
    EXPECT_TRUE(fs::is_symlink(box.snapshot_file));
    fs::remove(box.snapshot_file + ".new");
    state->end_snapshots();
    EXPECT_TRUE(fs::is_symlink(box.snapshot_file + ".unread"));
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(box.snapshot_file)));
}

TEST_F(BoxStateTest, AHeaderThatCannotBeLookedAtEndsNoStart) {
    leave_state();
    const std::string header = directory + "/tables/header";
    fs::remove(header);
    fs::create_symlink("header", header);
    EXPECT_TRUE(open());
}

// The tables of a process that was killed hold every page of a hugetlbfs.
TEST_F(BoxStateTest, TablesAreTakenUpThoughNoHugePageIsFree) {
    const std::string setting = "/proc/sys/vm/nr_overcommit_hugepages";
    const std::string before = read(setting);
    write(setting, "16\n");
    const bool mounted =
        ::mount("none", directory.c_str(), "hugetlbfs", 0, "pagesize=2M,size=8M,mode=700") == 0;
    struct Restore {
        std::string path, setting, before;
        ~Restore() {
            (void)::umount2(path.c_str(), MNT_DETACH);
            write(setting, before);
        }
    } const restore{directory, setting, before};
    if (!mounted) {
        GTEST_SKIP() << "no hugetlbfs";
    }
    StateShape shape{.workers = 1, .keys = 64, .pool_lines = 32, .huge_pages = true};
    const auto folder = StateFolder::open(directory);
    ASSERT_TRUE(folder);
    HashSecret secret{};
    {
        const auto region = StateRegion::open(*folder, shape);
        if (!region) {
            GTEST_SKIP() << "no huge pages: " << region.error().what;
        }
        secret = region->secrets().hash;
    }
    // As many more as there are, each of which is a file.
    for (int i = 0; Mapping::make(directory + "/tables/filler-" + std::to_string(i), 1); ++i) {
    }
    const auto again = StateRegion::open(*folder, shape);
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->taken_up());
    EXPECT_EQ(again->secrets().hash, secret);
}

}  // namespace
}  // namespace sluice::box_state_test
