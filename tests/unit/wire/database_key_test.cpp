#include "lib/wire/database_key.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace sluice::database_key_test {
namespace {

class DatabaseKeyTest : public testing::Test {
protected:
    void SetUp() override {
        folder_ = testing::TempDir() + "database_key_" + std::to_string(::getpid());
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    [[nodiscard]] std::string path() const { return folder_ + "/key"; }
    [[nodiscard]] mode_t mode() const {
        struct stat info{};
        EXPECT_EQ(::stat(path().c_str(), &info), 0);
        return info.st_mode & 07777;
    }
    std::string folder_;
};

TEST_F(DatabaseKeyTest, IsMadeOnceAndThenRead) {
    const Result<DatabaseKey> made = open_database_key(path(), "");
    ASSERT_TRUE(made) << made.error().what;
    EXPECT_EQ(mode(), 0600U);
    EXPECT_EQ(open_database_key(path(), "")->bytes, made->bytes);
    EXPECT_NE(random_database_key().bytes, made->bytes);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator{folder_}, {}), 1) << "nothing else";
}

TEST_F(DatabaseKeyTest, OfAUserIsTheirGroupsToRead) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "wants root";
    }
    ASSERT_TRUE(open_database_key(path(), "nobody"));
    EXPECT_EQ(mode(), 0640U);
    EXPECT_FALSE(open_database_key(path() + "2", "no such user"));
}

TEST_F(DatabaseKeyTest, IsRefusedWhenItIsOthersOrDamaged) {
    ASSERT_TRUE(open_database_key(path(), ""));
    for (const mode_t open : {0604U, 0620U, 0602U, 0601U}) {
        ASSERT_EQ(::chmod(path().c_str(), open), 0);
        EXPECT_FALSE(open_database_key(path(), "")) << open;
    }
    ASSERT_EQ(::chmod(path().c_str(), 0600), 0);
    std::filesystem::resize_file(path(), std::filesystem::file_size(path()) - 1);
    EXPECT_FALSE(open_database_key(path(), ""));
    std::filesystem::resize_file(path(), std::filesystem::file_size(path()) + 2);
    EXPECT_FALSE(open_database_key(path(), ""));
    std::filesystem::remove(path());
    std::filesystem::create_symlink("/dev/null", path());
    EXPECT_FALSE(open_database_key(path(), ""));
    EXPECT_FALSE(open_database_key(folder_ + "/none/key", ""));
}

RuleSet with_database(std::byte first, std::uint32_t entry) {
    ClassifierParts parts;
    parts.texts.databases = {
        {.field = {}, .entries = {entry}, .bytes = {first, std::byte{2}, std::byte{3}}}};
    RuleSet set;
    set.classifier = Classifier{std::move(parts)};
    return set;
}

TEST(DatabaseSeal, IsOfEveryByteAndOfTheKey) {
    const DatabaseKey key = random_database_key();
    const RuleSet set = with_database(std::byte{1}, 0);
    const DatabaseSeal seal = seal_of(set, key);
    EXPECT_TRUE(is_sealed(set, seal, key));
    EXPECT_FALSE(is_sealed(set, seal, random_database_key()));
    EXPECT_FALSE(is_sealed(set, DatabaseSeal{}, key));
    EXPECT_FALSE(is_sealed(with_database(std::byte{9}, 0), seal, key));
    EXPECT_FALSE(is_sealed(with_database(std::byte{1}, 7), seal, key));
    for (std::size_t bit = 0; bit < 256; ++bit) {
        DatabaseSeal flipped = seal;
        flipped[bit / 64] ^= std::uint64_t{1} << bit % 64;
        EXPECT_FALSE(is_sealed(set, flipped, key)) << bit;
    }
}

TEST(DatabaseSeal, SetsWithoutPatternsNeedNone) {
    EXPECT_TRUE(is_sealed(RuleSet{}, DatabaseSeal{}, random_database_key()));
    EXPECT_FALSE(is_sealed(RuleSet{}, DatabaseSeal{1}, random_database_key()));
}

}  // namespace
}  // namespace sluice::database_key_test
