#include "dataplane/state/kept_panic.hpp"

#include "dataplane/state/state_folder.hpp"
#include "tests/memory_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace sluice::kept_panic_test {
namespace {

class KeptPanicTest : public testing::Test {
protected:
    void SetUp() override {
        directory = test::memory_folder("kept_panic");
        std::filesystem::create_directories(directory);
    }
    void TearDown() override { std::filesystem::remove_all(directory); }

    std::string directory;
};

TEST_F(KeptPanicTest, IsSetUntilItIsResumed) {
    EXPECT_FALSE(KeptPanic{directory}.is_set());
    EXPECT_TRUE(KeptPanic{directory}.keep(true).has_value());
    EXPECT_TRUE(KeptPanic{directory}.is_set());
    EXPECT_TRUE(KeptPanic{directory}.keep(true).has_value()) << "twice is once";
    EXPECT_TRUE(KeptPanic{directory}.keep(false).has_value());
    EXPECT_FALSE(KeptPanic{directory}.is_set());
    EXPECT_TRUE(KeptPanic{directory}.keep(false).has_value()) << "there is nothing to end";
}

TEST_F(KeptPanicTest, WithoutADirectoryItSaysThatItIsNotKept) {
    EXPECT_FALSE(KeptPanic{directory + "/absent"}.keep(true).has_value());
    EXPECT_FALSE(KeptPanic{directory + "/absent"}.is_set());
}

// What somebody else has put there neither sets a panic nor is written through.
TEST_F(KeptPanicTest, ALinkSetsNothing) {
    std::filesystem::create_symlink(directory + "/elsewhere", directory + "/panic");
    EXPECT_FALSE(KeptPanic{directory}.is_set());
    EXPECT_FALSE(KeptPanic{directory}.keep(true).has_value());
    EXPECT_FALSE(std::filesystem::exists(directory + "/elsewhere"));
}

TEST_F(KeptPanicTest, ForgettingEndsIt) {
    ASSERT_TRUE(KeptPanic{directory}.keep(true).has_value());
    ASSERT_TRUE(StateFolder::open(directory)->forget().has_value());
    EXPECT_FALSE(KeptPanic{directory}.is_set());
}

}  // namespace
}  // namespace sluice::kept_panic_test
