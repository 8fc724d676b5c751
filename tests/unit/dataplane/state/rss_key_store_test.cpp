#include "dataplane/state/rss_key_store.hpp"

#include "dataplane/port/rss.hpp"
#include "dataplane/state/state_files.hpp"
#include "tests/memory_folder.hpp"
#include "tests/unit/base/no_descriptors.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace sluice::rss_key_store_test {
namespace {

std::string whole(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
}

class KeptRssKeys : public testing::Test {
protected:
    KeptRssKeys() {
        directory = test::memory_folder("rss_keys");
        std::filesystem::create_directories(directory);
    }
    ~KeptRssKeys() override { std::filesystem::remove_all(directory); }
    [[nodiscard]] std::string file() const { return directory + "/" + kRssKeyFile; }
    std::string directory;
};

TEST_F(KeptRssKeys, AreTheSameAfterARestart) {
    const RssKeys first = load_rss_keys(directory + "/made").keys;
    EXPECT_EQ(load_rss_keys(directory + "/made").keys.seed(), first.seed());
    EXPECT_NE(load_rss_keys(directory).keys.seed(), first.seed());
    struct stat status{};
    ASSERT_EQ(::stat(file().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(KeptRssKeys, WhatCannotBeReadIsKeptAside) {
    const RssKeys first = load_rss_keys(directory).keys;
    std::ofstream{file()} << "short";
    const FoundRssKeys found = load_rss_keys(directory);
    EXPECT_TRUE(found.put_aside);
    EXPECT_TRUE(found.kept);
    const RssKeys& second = found.keys;
    EXPECT_NE(second.seed(), first.seed());
    EXPECT_EQ(load_rss_keys(directory).keys.seed(), second.seed());
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator{directory}) {
        ++files;
    }
    EXPECT_EQ(files, 2U);
}

TEST_F(KeptRssKeys, AreGoodForOneRunWhereNothingCanBeWritten) {
    std::ofstream{directory + "/file"} << "";
    const FoundRssKeys found = load_rss_keys(directory + "/file/below");
    EXPECT_FALSE(found.kept);
    EXPECT_FALSE(is_degenerate(found.keys.of(Rss::Source)));
}

// Every bit of the file: the same keys come back, or new ones, and the file is kept aside.
TEST_F(KeptRssKeys, AFlippedBitMovesNoKeySilently) {
    const RssKeys first = load_rss_keys(directory).keys;
    const std::string text = whole(file());
    for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
        std::string flipped = text;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1U << bit % 8));
        std::ofstream{file(), std::ios::binary | std::ios::trunc} << flipped;
        const FoundRssKeys found = load_rss_keys(directory);
        EXPECT_EQ(found.put_aside, found.keys.seed() != first.seed()) << "bit " << bit;
    }
}

// Of before the file had a sum.
TEST_F(KeptRssKeys, ThoseOfTheFirstVersionStayAndGetASum) {
    const RssKeys keys = RssKeys::make();
    std::string text = "sluice rss key 1\n";
    text.append(reinterpret_cast<const char*>(keys.seed().data()), keys.seed().size());
    std::ofstream{file(), std::ios::binary} << text;
    EXPECT_EQ(load_rss_keys(directory).keys.seed(), keys.seed());
    EXPECT_NE(whole(file()), text);
    const FoundRssKeys again = load_rss_keys(directory);
    EXPECT_EQ(again.keys.seed(), keys.seed());
    EXPECT_FALSE(again.put_aside);
}

TEST_F(KeptRssKeys, AFolderInTheirPlaceIsKeptAside) {
    std::filesystem::create_directory(file());
    const FoundRssKeys found = load_rss_keys(directory);
    EXPECT_TRUE(found.put_aside);
    EXPECT_TRUE(found.kept);
    EXPECT_EQ(load_rss_keys(directory).keys.seed(), found.keys.seed());
}

TEST_F(KeptRssKeys, ThoseThatCannotBeReadNowStay) {
    const RssKeys first = load_rss_keys(directory).keys;
    {
        const test::NoDescriptors none;
        const FoundRssKeys found = load_rss_keys(directory);
        EXPECT_FALSE(found.put_aside);
        EXPECT_FALSE(found.kept);
        EXPECT_NE(found.keys.seed(), first.seed());
    }
    EXPECT_EQ(load_rss_keys(directory).keys.seed(), first.seed());
    std::filesystem::remove(file());
    std::filesystem::create_symlink(test::kReadsFail, file());
    EXPECT_FALSE(load_rss_keys(directory).put_aside);
    EXPECT_TRUE(std::filesystem::is_symlink(file()));
}

}  // namespace
}  // namespace sluice::rss_key_store_test
