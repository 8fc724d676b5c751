#include "control/daemon/list_watch.hpp"

#include "temporary_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace sluice::list_watch_test {
namespace {

class Watched : public testing::Test {
protected:
    Watched() {
        std::filesystem::create_directory(folder_ / "lists");
        write("one");
        watch_.watch({folder_ / "lists/a", folder_ / "lists/b"});
    }
    void write(const std::string& text) { folder_.write("lists/a", text); }
    void rename(const std::string& from, const std::string& to) {
        std::filesystem::rename(folder_ / from, folder_ / to);
    }
    // Whether one of a few looks tells of a change.
    bool tells() {
        bool told = false;
        for (int look = 0; look < 4; ++look) {
            told = watch_.has_changed() || told;
        }
        return told;
    }

    TemporaryFolder folder_;
    ListWatch watch_;
};

TEST_F(Watched, IsTakenAsChangedAtFirst) {
    EXPECT_TRUE(tells());
    EXPECT_FALSE(tells());
    watch_.watch({folder_ / "lists/a", folder_ / "lists/b"});
    EXPECT_FALSE(tells()) << "these are watched already";
}

TEST_F(Watched, AChangeIsToldOnceWhenItHasSettled) {
    EXPECT_TRUE(tells());
    write("two and more");
    EXPECT_FALSE(watch_.has_changed()) << "somebody may still be writing";
    write("three, and still more");
    EXPECT_FALSE(watch_.has_changed()) << "somebody was";
    EXPECT_TRUE(watch_.has_changed());
    EXPECT_FALSE(tells());
}

TEST_F(Watched, WhatTakesItsPlaceIsAChange) {
    EXPECT_TRUE(tells());
    folder_.write("lists/.a.new", "one");
    rename("lists/.a.new", "lists/a");
    EXPECT_TRUE(tells());
    std::filesystem::remove(folder_ / "lists/a");
    EXPECT_TRUE(tells());
    write("one");
    EXPECT_TRUE(tells());
}

TEST_F(Watched, OtherFilesAreNone) {
    EXPECT_TRUE(tells());
    folder_.write("lists/c", "x");
    std::filesystem::remove(folder_ / "lists/c");
    EXPECT_FALSE(tells());
}

TEST_F(Watched, AnotherFolderOfThatNameIsWatchedNext) {
    EXPECT_TRUE(tells());
    rename("lists", "old");
    EXPECT_TRUE(tells()) << "it is gone";
    std::filesystem::create_directory(folder_ / "lists");
    write("four");
    EXPECT_TRUE(tells());
    write("four and five");
    EXPECT_TRUE(tells());
    folder_.write("old/a", "nobody's");
    EXPECT_FALSE(tells());
}

TEST_F(Watched, ALinkThatPointsElsewhereIsAChange) {
    folder_.write("lists/v1", "x");
    folder_.write("lists/v2", "x");
    std::filesystem::create_symlink("v1", folder_ / "lists/b");
    EXPECT_TRUE(tells());
    std::filesystem::create_symlink("v2", folder_ / "lists/b.new");
    rename("lists/b.new", "lists/b");
    EXPECT_TRUE(tells());
}

TEST_F(Watched, CanBeLookedAtOnceMore) {
    EXPECT_TRUE(tells());
    watch_.look_again();
    EXPECT_TRUE(tells());
    EXPECT_FALSE(tells());
    write("two");
    watch_.look_again();
    EXPECT_FALSE(watch_.has_changed()) << "somebody may still be writing";
    EXPECT_TRUE(watch_.has_changed());
    EXPECT_FALSE(tells());
}

TEST_F(Watched, NothingIsNeverChanged) {
    watch_.watch({});
    write("five");
    watch_.look_again();
    EXPECT_FALSE(tells());
}

}  // namespace
}  // namespace sluice::list_watch_test
