#include "dataplane/xdp/pins.hpp"

#include <gtest/gtest.h>

namespace sluice::pins_test {
namespace {

TEST(Pins, AFolderForEachStateDirectoryAndPairWithoutDotsAndSlashes) {
    BoxConfig box;
    box.state_dir = "/var/lib/sluice.d";
    EXPECT_EQ(pins_of_box(box), "/sys/fs/bpf/sluice/_2fvar_2flib_2fsluice_2ed");
    box.kernel = KernelOptions{.pins = "/p"};
    EXPECT_EQ(pins_of_pair(box, "up_link-1"), "/p/sluice/_2fvar_2flib_2fsluice_2ed/up_5flink-1");
    EXPECT_NE(pins_of_pair(box, "a/b"), pins_of_pair(box, "a_2fb"));
}

TEST(Pins, AFileSystemThatKeepsNoProgramsIsRefused) {
    BoxConfig box;
    box.kernel = KernelOptions{.pins = ::testing::TempDir()};
    const Result<Done> made = make_pins_folder(box, pins_of_pair(box, "lab"));
    ASSERT_FALSE(made.has_value());
    EXPECT_NE(made.error().what.find("no file system for pins"), std::string::npos);
}

TEST(Pins, WhatWasNeverPinnedCanBeForgotten) {
    BoxConfig box;
    box.kernel = KernelOptions{.pins = ::testing::TempDir() + "never"};
    EXPECT_TRUE(remove_pins(box).has_value());
}

}  // namespace
}  // namespace sluice::pins_test
