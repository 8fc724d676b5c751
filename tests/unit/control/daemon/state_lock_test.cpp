#include "control/daemon/state_lock.hpp"

#include "tests/unit/control/daemon/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include <unistd.h>

namespace sluice {
namespace {

TEST(StateLock, OneAtATimeAndTheErrorNamesFolderAndHolder) {
    const TemporaryFolder folder;
    const std::string state = folder.path() + "/made";
    std::optional<Result<StateLock>> first{StateLock::take(state)};
    ASSERT_TRUE(*first);
    EXPECT_TRUE((**first).is_held());
    const Result<StateLock> second = StateLock::take(state);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().what,
              fmt::format("another sluiced (pid {}) has the state directory {}; give each a "
                          "--state-dir of its own",
                          ::getpid(), state));
    first.reset();
    EXPECT_TRUE(StateLock::take(state));
}

// A link there leads nowhere: nothing that somebody has put in its place is written to.
TEST(StateLock, WhatLiesInItsPlaceIsNotFollowed) {
    const TemporaryFolder folder;
    const std::string elsewhere = folder.path() + "/elsewhere";
    std::filesystem::create_symlink(elsewhere, folder.path() + "/" + StateLock::kFile);
    const Result<StateLock> lock = StateLock::take(folder.path());
    ASSERT_TRUE(lock);
    EXPECT_FALSE(lock->is_held());
    EXPECT_FALSE(std::filesystem::exists(elsewhere));
}

TEST(StateLock, AFolderThatCannotBeMadeIsHeldByNobody) {
    const Result<StateLock> lock = StateLock::take("/dev/null/state");
    ASSERT_TRUE(lock);
    EXPECT_FALSE(lock->is_held());
}

}  // namespace
}  // namespace sluice
