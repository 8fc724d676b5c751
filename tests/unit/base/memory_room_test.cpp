#include "lib/base/memory_room.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace sluice::memory_room_test {
namespace {

constexpr std::uint64_t kAll = UINT64_MAX;

// A folder as control groups have it.
class Groups : public testing::Test {
protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "/groups-XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        root_ = name;
    }
    void TearDown() override { std::filesystem::remove_all(root_); }
    void put(const std::string& file, const std::string& text) const {
        const std::filesystem::path path = root_ + file;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream{path} << text;
    }
    std::string root_;
};

TEST(MemoryRoom, FindsANumberBehindItsName) {
    const std::string text = "MemTotal: 9 kB\nMemAvailable:   12 kB\ninactive_file 4096\n";
    EXPECT_EQ(number_behind(text, "MemAvailable"), 12U);
    EXPECT_EQ(number_behind(text, "inactive_file"), 4096U);
    EXPECT_EQ(number_behind(text, "inactive"), std::nullopt);
    EXPECT_EQ(number_behind("", "MemAvailable"), std::nullopt);
    EXPECT_EQ(number_behind("MemAvailable:", "MemAvailable"), std::nullopt);
}

TEST(MemoryRoom, OfAMachineIsWhatItHasAndWhatItMayPromise) {
    const std::string text = "MemAvailable: 100 kB\nCommitLimit: 80 kB\nCommitted_AS: 30 kB\n";
    EXPECT_EQ(room_of_machine(text, false), 100U << 10);
    EXPECT_EQ(room_of_machine(text, true), 50U << 10);
    EXPECT_EQ(room_of_machine("", true), kAll);
}

TEST_F(Groups, TheNarrowestGroupDecides) {
    put("/a/b/memory.max", "1000\n");
    put("/a/b/memory.current", "300\n");
    put("/a/b/memory.stat", "anon 10\ninactive_file 100\n");
    EXPECT_EQ(room_in_groups("0::/a/b\n", root_), 800U);
    put("/a/memory.max", "500\n");
    put("/a/memory.current", "400\n");
    EXPECT_EQ(room_in_groups("0::/a/b\n", root_), 100U);
    EXPECT_EQ(room_in_groups("0::/a\n", root_), 100U);
    EXPECT_EQ(room_in_groups("0::/\n", root_), kAll);
}

TEST_F(Groups, WhatIsNotLimitedOrNotThereLimitsNothing) {
    put("/a/memory.max", "max\n");
    put("/a/memory.current", "300\n");
    EXPECT_EQ(room_in_groups("0::/a\n", root_), kAll);
    EXPECT_EQ(room_in_groups("0::/elsewhere/b\n", root_), kAll);
    for (const char* text : {"", "\n", "0", "0:", "0::", "x:memory:", "4:cpu:/a"}) {
        EXPECT_EQ(room_in_groups(text, root_), kAll) << text;
    }
}

TEST_F(Groups, OfTheFirstVersionToo) {
    put("/memory/a/memory.limit_in_bytes", "1000\n");
    put("/memory/a/memory.usage_in_bytes", "1200\n");
    EXPECT_EQ(room_in_groups("4:memory:/a\n3:cpu:/\n", root_), 0U);
    put("/memory/a/memory.stat", "total_inactive_file 700\n");
    EXPECT_EQ(room_in_groups("4:memory:/a\n", root_), 500U);
}

}  // namespace
}  // namespace sluice::memory_room_test
