#include "lib/base/read_file.hpp"

#include "tests/unit/base/little_memory.hpp"
#include "tests/unit/base/no_descriptors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <sys/stat.h>

namespace sluice::read_file_test {
namespace {

class ReadFile : public testing::Test {
protected:
    ReadFile() {
        std::string name = std::filesystem::temp_directory_path() / "sluice-read-XXXXXX";
        folder = ::mkdtemp(name.data());
    }
    ~ReadFile() override { std::filesystem::remove_all(folder); }
    void write(const std::string& text) const { std::ofstream{path(), std::ios::binary} << text; }
    [[nodiscard]] std::string path() const { return folder + "/file"; }
    // Of reading it.
    [[nodiscard]] Errc error(std::size_t most = 100) const {
        const auto read = read_whole_file(path(), most);
        EXPECT_FALSE(read);
        return read ? Errc::Refused : read.error().code;
    }

    std::string folder;
};

TEST_F(ReadFile, IsWholeUpToTheBound) {
    for (const std::size_t size : {0U, 1U, 4095U, 4096U, 4097U, 100'000U}) {
        const std::string text(size, 'x');
        write(text);
        const auto read = read_whole_file(path(), size);
        ASSERT_TRUE(read && *read) << size;
        EXPECT_EQ(**read, text);
        if (size != 0) {
            EXPECT_EQ(error(size - 1), Errc::TooMany);
        }
    }
}

TEST_F(ReadFile, NothingOfThatNameIsNoError) {
    const auto read = read_whole_file(path(), 100);
    ASSERT_TRUE(read);
    EXPECT_FALSE(*read);
}

TEST_F(ReadFile, FilesOfTheKernelSayNoSize) {
    const auto read = read_whole_file("/proc/self/status", 1U << 20);
    ASSERT_TRUE(read && *read);
    EXPECT_NE((*read)->find("Pid:"), std::string::npos);
}

TEST_F(ReadFile, WhatIsNoFileNeverCanBeRead) {
    std::filesystem::create_directory(path());
    EXPECT_EQ(error(), Errc::BadSyntax) << "a folder";
    std::filesystem::remove(path());
    ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
    EXPECT_EQ(error(), Errc::BadSyntax) << "a FIFO that nobody writes to";
    std::filesystem::remove(path());
    std::filesystem::create_symlink(path(), path());
    EXPECT_EQ(error(), Errc::BadSyntax) << "a link to itself";
}

TEST_F(ReadFile, WhatTheMachineCannotReadNowMayBeGood) {
    std::filesystem::create_symlink(test::kReadsFail, path());
    EXPECT_EQ(error(), Errc::Unreachable) << "EIO";
    std::filesystem::remove(path());
    write("good");
    {
        const test::NoDescriptors none;
        EXPECT_EQ(error(), Errc::Unreachable) << "EMFILE";
    }
    EXPECT_EQ(**read_whole_file(path(), 100), "good");
}

TEST_F(ReadFile, AFolderIsListedWholeOrNotAtAll) {
    write("");
    EXPECT_EQ(*list_folder(folder), std::vector<std::string>{"file"});
    EXPECT_TRUE(list_folder(folder + "/none")->empty());
    const test::NoDescriptors none;
    EXPECT_EQ(list_folder(folder).error().code, Errc::Unreachable);
}

TEST_F(ReadFile, WhatHasNoRoomInMemoryCannotBeReadNow) {
    constexpr std::size_t kSize = std::size_t{64} << 20;
    write("");
    std::filesystem::resize_file(path(), kSize);
    {
        const test::LittleMemory little{8U << 20};
        EXPECT_EQ(error(kSize), Errc::Unreachable);
    }
    EXPECT_TRUE(read_whole_file(path(), kSize));
}

TEST_F(ReadFile, NamesOfAFolderThatCannotBeListedAreNone) {
    write("");
    EXPECT_EQ(names_in(folder), std::vector<std::string>{"file"});
    EXPECT_TRUE(names_in(path()).empty());
    const test::NoDescriptors none;
    EXPECT_TRUE(names_in(folder).empty());
}

}  // namespace
}  // namespace sluice::read_file_test
